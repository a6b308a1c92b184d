"""What a fix did: before and after, and every fix on people it has not seen."""
