"""What a site says about the use of a page, in every grammar, with the place of each source."""
