import { registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** How a module names a file of its own project rather than a package. */
const OWN_FILE = /^(?:\.{0,2}\/|#|file:)/

export interface ImportTracking {
  /** What was imported so far, the entry first. */
  files(): readonly string[]
  end(): void
}

/**
 * Follows what `entry` imports, and what those import in turn, until it is ended; a file that is not there counts too. Packages
 * are left out. Call it before `entry` is imported.
 */
export function trackImports(entry: string, onImport: (file: string) => void = () => undefined): ImportTracking {
  const known = new Set([pathToFileURL(entry).href])
  const note = (url: string) => {
    if (known.has(url) || !url.startsWith('file:')) return
    known.add(url)
    onImport(fileURLToPath(url))
  }
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const { parentURL } = context
      if (parentURL === undefined || !known.has(parentURL) || !OWN_FILE.test(specifier)) return next(specifier, context)
      try {
        const resolved = next(specifier, context)
        note(resolved.url)
        return resolved
      } catch (error) {
        if (!specifier.startsWith('#')) note(new URL(specifier, parentURL).href)
        throw error
      }
    },
  })
  return { files: () => [...known].map((url) => fileURLToPath(url)), end: () => hooks.deregister() }
}
