import { type ExecFileOptions, execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isOwnPackage, type Packed, packPackages, root, rootManifest } from '../tooling/consumer/packages.ts'

export type Installer = 'npm' | 'pnpm'

export interface Ran {
  readonly stdout: string
  readonly stderr: string
}

/** A project outside the workspace that has the packed packages and nothing else from this repository. */
export interface ConsumerProject {
  readonly dir: string
  readonly env: NodeJS.ProcessEnv
  /** Runs a program with Node, or a binary from `node_modules/.bin`. Rejects with its output when it fails. */
  node(...args: string[]): Promise<Ran>
  nodeWith(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ran>
  bin(name: string, ...args: string[]): Promise<Ran>
}

export interface Wanted {
  readonly installer: Installer
  readonly packed: readonly Packed[]
  /** Names of the Perdure packages to install; the Perdure packages that they depend on are installed too. */
  readonly own: readonly string[]
  readonly others?: Readonly<Record<string, string>>
}

const execute = promisify(execFile)

/** Rejects with what the command printed: compilers report their errors on stdout. */
export const run = (file: string, args: readonly string[], options: ExecFileOptions) =>
  execute(file, args, { ...options, encoding: 'utf8' }).catch((error: Error & { stdout?: string; stderr?: string }) => {
    throw new Error(`${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`, { cause: error })
  })
const SOURCES = join(root, 'tooling/consumer/project')

const catalog = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')

/** The version range that the workspace uses for a third-party package. */
export const versionOf = (name: string): string => new RegExp(`^  "?${name}"?: (\\S+)$`, 'm').exec(catalog)?.[1] ?? ''

/** Packs every package into a temporary folder. */
export function packAll(): readonly Packed[] {
  return packPackages(join(mkdtempSync(join(tmpdir(), 'perdure-tarballs-')), 'tarballs'))
}

/** Creates an empty folder and home directory and installs there, with install scripts disabled. */
export async function createConsumerProject(wanted: Wanted): Promise<ConsumerProject> {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-consumer-'))
  const [dir, home] = [join(folder, 'project'), join(folder, 'home')]
  cpSync(SOURCES, dir, { recursive: true })
  const env = consumerEnvironment(home)
  await INSTALL[wanted.installer](dir, wanted, env)
  return {
    dir,
    env,
    node: (...args) => run(process.execPath, args, { cwd: dir, env }),
    nodeWith: (over, ...args) => run(process.execPath, args, { cwd: dir, env: over }),
    bin: (name, ...args) => run(join(dir, 'node_modules/.bin', name), args, { cwd: dir, env }),
  }
}

/**
 * An environment without settings of this repository, its package manager or the user; only the download cache is
 * shared.
 */
export function consumerEnvironment(home: string): NodeJS.ProcessEnv {
  mkdirSync(home, { recursive: true })
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:npm_|pnpm_|perdure_|node_path|vitest)/i.test(name))
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const cache = process.env.npm_config_cache ?? join(homedir(), '.npm')
  return { ...Object.fromEntries(kept), PATH, HOME: home, npm_config_cache: cache, NO_COLOR: '1' }
}

type Install = (dir: string, wanted: Wanted, env: NodeJS.ProcessEnv) => Promise<void>

const INSTALL: Readonly<Record<Installer, Install>> = {
  async npm(dir, wanted, env) {
    writeManifest(dir, { dependencies: { ...tarballsOf(wanted), ...wanted.others } })
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
    await run('npm', ['install', '--ignore-scripts', ...quiet], { cwd: dir, env })
  },
  async pnpm(dir, wanted, env) {
    writeManifest(dir, { dependencies: { ...tarballsOf(wanted), ...wanted.others } })
    const overrides = Object.entries(tarballsOf({ ...wanted, own: wanted.packed.map(nameOf) }))
    const lines = overrides.map(([name, range]) => `  "${name}": "${range}"`)
    writeFileSync(join(dir, 'pnpm-workspace.yaml'), `overrides:\n${lines.join('\n')}\n`)
    await run('npx', ['-y', rootManifest.packageManager, 'install', '--ignore-scripts', '--prefer-offline'], {
      cwd: dir,
      env,
    })
  },
}

const nameOf = ({ manifest }: Packed): string => manifest.name

/** Adds the Perdure packages that `own` depends on: they are unpublished, so npm finds only those listed here. */
function tarballsOf({ packed, own }: Wanted): Readonly<Record<string, string>> {
  const names = new Set(own)
  for (const name of names) {
    const found = packed.find((one) => nameOf(one) === name)
    for (const needed of Object.keys(found?.manifest.dependencies ?? {})) if (isOwnPackage(needed)) names.add(needed)
  }
  return Object.fromEntries(
    packed.filter((one) => names.has(nameOf(one))).map((one) => [nameOf(one), `file:${one.tarball}`]),
  )
}

const writeManifest = (dir: string, over: object): void =>
  writeFileSync(
    join(dir, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module', ...over }, null, 2),
  )

/** The packages that npm installed, by path in `node_modules`. */
export interface Installed {
  readonly version: string
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Every package that npm installs for one package, including that package. */
export function closureOf(dir: string, name: string): ReadonlyMap<string, Installed> {
  const lock = JSON.parse(readFileSync(join(dir, 'package-lock.json'), 'utf8'))
  const all = lock.packages as Readonly<Record<string, Installed>>
  const found = new Map<string, Installed>()
  const visit = (wanted: string, from: string): void => {
    const path = installedPathOf(all, wanted, from)
    const installed = path === undefined ? undefined : all[path]
    if (path === undefined || installed === undefined || found.has(path)) return
    found.set(path, installed)
    const needed = { ...installed.dependencies, ...installed.optionalDependencies }
    for (const one of Object.keys(needed)) visit(one, path)
  }
  visit(name, '')
  return found
}

/** Where Node resolves a package from another: the nearest `node_modules` upwards. */
function installedPathOf(all: Readonly<Record<string, Installed>>, name: string, from: string): string | undefined {
  const candidate = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (all[candidate] !== undefined) return candidate
  return from === ''
    ? undefined
    : installedPathOf(all, name, from.split('/node_modules/').slice(0, -1).join('/node_modules/'))
}
