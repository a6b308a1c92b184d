"""What alembic runs: the migrations, in the transaction of the connection it is given."""

from alembic import context

from isonomia.store.tables import metadata


def run() -> None:
    """Run the migrations that are missing."""
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


if hasattr(context, "config"):  # there is none where this file is only imported
    run()
