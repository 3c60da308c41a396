/**
 * How often a decision is made anew because another writer was faster. Of all that change the same row at once one gets
 * through each time, so this is how many may.
 */
export const MOST_TRIES = 100
