import { registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Import specifiers of project files, as opposed to packages. */
const OWN_FILE = /^(?:\.{0,2}\/|#|file:)/

export interface ImportTracking {
  /** Files imported so far, the entry first. */
  files(): readonly string[]
  end(): void
}

/**
 * Reports the project files that `entry` imports, directly and indirectly, until `end` is called. Includes missing
 * files and excludes packages. Call it before importing `entry`.
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
