"""Pages of HTML: templates, styles and scripts of our own, for files that stand alone and for a service.

What they show was written by others: it goes through the templates' escaping, and no script makes markup of it.
"""
