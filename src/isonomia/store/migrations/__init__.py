"""How the tables of a store came about, a file per step; alembic runs them."""
