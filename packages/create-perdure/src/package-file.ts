/** URL of a file in this package. This module is one folder below the package root, both in `src` and in `dist`. */
export const packageFile = (path: string): URL => new URL(`../${path}`, import.meta.url)
