import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

interface LockedPackage {
  readonly resolution: { readonly integrity?: string }
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly cpu?: readonly string[]
  readonly os?: readonly string[]
  readonly libc?: readonly string[]
}

type Versions = Readonly<Record<string, string>>

interface Snapshot {
  readonly dependencies?: Versions
  readonly optionalDependencies?: Versions
}

interface Importer {
  readonly dependencies?: Readonly<Record<string, { readonly version: string }>>
  readonly optionalDependencies?: Readonly<Record<string, { readonly version: string }>>
}

export interface Lockfile {
  readonly importers: Readonly<Record<string, Importer>>
  readonly packages: Readonly<Record<string, LockedPackage>>
  readonly snapshots: Readonly<Record<string, Snapshot>>
}

export const readLockfile = (root: string): Lockfile => parse(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8'))

/** `name@version`, without the resolved peers. */
const bare = (id: string) => id.replace(/\(.*$/, '')

/** Returns the third-party packages installed with a workspace package, as `name@version`. */
export function installedWith({ importers, packages, snapshots }: Lockfile, importer: string): ReadonlySet<string> {
  const found = new Set<string>()
  const seen = new Set<string>()

  const follow = (from: string, name: string, version: string): void => {
    if (version.startsWith('link:')) {
      enter(join(from, version.slice('link:'.length)))
      return
    }
    const id = version.startsWith(`${name}@`) ? version : `${name}@${version}`
    if (seen.has(id)) return
    seen.add(id)
    found.add(bare(id))
    const { dependencies, optionalDependencies } = snapshots[id] ?? {}
    // An optional peer is in the lockfile only because another package of the workspace depends on it.
    const isOptional = (peer: string) => packages[bare(id)]?.peerDependenciesMeta?.[peer]?.optional === true
    for (const [next, at] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      if (!isOptional(next)) follow(from, next, at)
    }
  }

  const enter = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    const { dependencies, optionalDependencies } = importers[path] ?? {}
    for (const [name, { version }] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      follow(path, name, version)
    }
  }

  enter(importer)
  return found
}

export interface Manifest {
  readonly name: string
  readonly license?: string
  readonly scripts?: Versions
  readonly dependencies?: Versions
  readonly optionalDependencies?: Versions
  readonly peerDependencies?: Versions
  readonly devDependencies?: Versions
}

const PLATFORMS = ['linux', 'darwin', 'win32'].flatMap((os) => ['x64', 'arm64'].map((cpu) => ({ os, cpu })))

/** Returns the platforms for which a native package has no binary, as `name@version os cpu`. */
export function missingNatives({ packages, snapshots }: Lockfile, ids: Iterable<string>): readonly string[] {
  const wanted = new Set(ids)
  return Object.entries(snapshots).flatMap(([id, { optionalDependencies = {} }]) => {
    const parts = Object.entries(optionalDependencies).flatMap(([name, at]) => packages[`${name}@${bare(at)}`] ?? [])
    const natives = parts.filter(({ os, cpu }) => os !== undefined && cpu !== undefined)
    if (natives.length === 0 || !wanted.has(bare(id))) return []
    const isCovered = (platform: (typeof PLATFORMS)[number]) =>
      natives.some(({ os, cpu }) => os?.includes(platform.os) === true && cpu?.includes(platform.cpu) === true)
    return PLATFORMS.filter((platform) => !isCovered(platform)).map(({ os, cpu }) => `${bare(id)} ${os} ${cpu}`)
  })
}

/** Reads the manifests of the installed packages, by `name@version`. */
export function installedManifests(root: string): ReadonlyMap<string, Manifest> {
  const store = join(root, 'node_modules/.pnpm')
  return new Map(
    readdirSync(store).flatMap((folder) => {
      const id = folder.replace(/_.*$/, '').replaceAll('+', '/')
      const path = join(store, folder, 'node_modules', id.slice(0, id.lastIndexOf('@')), 'package.json')
      return id.includes('@') && existsSync(path) ? [[id, JSON.parse(readFileSync(path, 'utf8'))] as const] : []
    }),
  )
}
