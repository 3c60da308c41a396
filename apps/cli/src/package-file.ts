/** What lies in the folder of this package, `templates/…` say. This file is one folder below, as source and when it is built. */
export const packageFile = (path: string): URL => new URL(`../${path}`, import.meta.url)
