import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly license?: string
  readonly engines?: Readonly<Record<string, string>>
  readonly repository?: { readonly type: string; readonly url: string; readonly directory?: string }
  readonly publishConfig?: Readonly<Record<string, unknown>>
  readonly exports: Readonly<Record<string, unknown>>
  readonly bin?: Readonly<Record<string, string>>
  readonly files?: readonly string[]
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** A published package, as it is in the repository. */
export interface Package {
  readonly folder: string // relative to the root
  readonly manifest: Manifest
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

export const rootManifest: Manifest & { readonly packageManager: string } = readJson(join(root, 'package.json'))

const everyPackage: readonly Package[] = ['packages', 'apps']
  .flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`))
  .map((folder) => ({ folder, manifest: readJson(join(root, folder, 'package.json')) as Manifest }))

/** Every package of the workspace that is not private, by name. */
export const packages: readonly Package[] = everyPackage
  .filter(({ manifest }) => !manifest.private)
  .sort((a, b) => a.manifest.name.localeCompare(b.manifest.name))

const ownNames: ReadonlySet<string> = new Set(everyPackage.map(({ manifest }) => manifest.name))

/** Whether a package of that name is in this repository. */
export const isOwnPackage = (name: string): boolean => ownNames.has(name)

let isOnPath: boolean | undefined

/** The command line of the pinned pnpm: the program on the PATH, unless it has another version. */
export function pnpmCommand(args: readonly string[]): readonly [file: string, args: readonly string[]] {
  isOnPath ??= spawnSync('pnpm', ['--version'], { encoding: 'utf8' }).stdout?.trim() === PNPM_VERSION
  return isOnPath ? ['pnpm', args] : ['npx', ['-y', rootManifest.packageManager, ...args]]
}

const PNPM_VERSION = rootManifest.packageManager.replace('pnpm@', '')

/** Runs the pinned pnpm. */
export function pnpm(args: readonly string[], cwd = root): string {
  const [file, all] = pnpmCommand(args)
  return execFileSync(file, all, { cwd, encoding: 'utf8', stdio: 'pipe' })
}

/** A package as its users install it. */
export interface Packed extends Package {
  readonly tarball: string
  readonly files: readonly string[]
}

/**
 * Packs every package as `pnpm publish` would: without the source export condition, with plain version ranges.
 *
 * @param from this repository, or a copy of it
 */
export function packPackages(to: string, from = root): readonly Packed[] {
  mkdirSync(to, { recursive: true })
  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`)
  pnpm([...filters, '-r', 'pack', '--pack-destination', to], from)
  return packages.map(({ folder, manifest }) => {
    const tarball = join(to, `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`)
    const list = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' })
    const files = list.split('\n').filter((line) => line !== '' && !line.endsWith('/'))
    return { folder, manifest, tarball, files: files.map((path) => path.replace(/^package\//, '')).sort() }
  })
}
