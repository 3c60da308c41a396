import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, packages, pnpm, root } from '../consumer/packages.ts'

interface Tarball {
  readonly path: string
  readonly manifest: Manifest
}

const names: ReadonlySet<string> = new Set(packages.map(({ manifest }) => manifest.name))

/** Reads the manifest out of each tarball of a folder, except those of unpublished packages. */
export const tarballsIn = (folder: string): readonly Tarball[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => {
      const path = join(folder, name)
      const text = execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' })
      return { path, manifest: JSON.parse(text) as Manifest }
    })
    .filter(({ manifest }) => names.has(manifest.name))

/** Sorts tarballs so that each comes after those that it depends on: what is published can be installed at any time. */
export function inOrder(tarballs: readonly Tarball[]): readonly Tarball[] {
  const ordered = new Set<Tarball>()
  const visit = (tarball: Tarball): void => {
    if (ordered.has(tarball)) return
    for (const other of tarballs) if (other.manifest.name in (tarball.manifest.dependencies ?? {})) visit(other)
    ordered.add(tarball)
  }
  for (const tarball of tarballs) visit(tarball)
  return [...ordered]
}

function isPublished({ manifest: { name, version } }: Tarball): boolean {
  try {
    return pnpm(['view', `${name}@${version}`, 'version'], root).trim() !== ''
  } catch (error) {
    if (/E404|ERR_PNPM_(?:FETCH_404|NO_MATCHING_VERSION|PACKAGE_NOT_FOUND)/.test(String(error))) return false
    throw error
  }
}

/**
 * Publishes the tarballs of a folder as they are, and skips versions that the registry has, so that it completes a release
 * that was interrupted.
 */
export function publish(folder: string, flags: readonly string[]): void {
  for (const tarball of inOrder(tarballsIn(folder))) {
    const { path, manifest } = tarball
    const isThere = isPublished(tarball)
    // pnpm ignores `provenance` in the `publishConfig` of a tarball: only the flag makes it sign a statement.
    if (!isThere) pnpm(['publish', path, '--access', 'public', '--no-git-checks', ...flags], root)
    console.log(`${manifest.name}@${manifest.version} ${isThere ? 'is published already' : 'published'}`)
  }
}

if (process.argv[1] === import.meta.filename) {
  const [folder = join(root, 'dist'), ...flags] = process.argv.slice(2)
  publish(folder, flags)
}
