"""Static drawings: a figure as Plotly's JSON describes it, as one SVG element that needs no script.

The drawing reads the same description that Plotly gets, so both show the same numbers. It carries no ids, no styles and
no addresses: it can stand several times in one page, and takes the ink of the text around it.
"""
