import { createRequire } from 'node:module'

const manifest: { readonly version: string } = createRequire(import.meta.url)('../package.json')

/** The release version, shared by all packages. */
export const version = manifest.version
