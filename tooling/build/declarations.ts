import { cpSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A docstring may show an import from the user's own project. */
const COMMENT = /\/\*.*?\*\//gs
const RELATIVE = /\b(?:from|import\()\s*['"](\.[^'"]+)\.ts['"]/g

/**
 * Copies only the declarations that users of `entry` can see; the others would name packages that users do not have.
 */
export function copyDeclarations(entry: string, { from, to }: { readonly from: string; readonly to: string }): void {
  const seen = new Set<string>()
  const follow = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    cpSync(join(from, path), join(to, path))
    const text = readFileSync(join(from, path), 'utf8').replace(COMMENT, '')
    for (const [, target] of text.matchAll(RELATIVE)) follow(join(dirname(path), `${target}.d.ts`))
  }
  follow(entry)
}
