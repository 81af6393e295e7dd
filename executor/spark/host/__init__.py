"""What the machine gives (files, folders, limits), and the errors that tell what is missing."""
