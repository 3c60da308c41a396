/** Runs the command line of this process when it is imported. */
export {}
