import { execFileSync, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { postgresPrograms, serverUser } from './postgres-programs.ts'

interface Tool {
  /** The Debian package that has it; `.ci/run` installs it. Missing if `.ci/run` gets it elsewhere. */
  readonly debian?: string
  /** Returns its place, or `undefined` if this process cannot use it; by default the program of this name on the PATH. */
  readonly find?: () => string | undefined
}

/**
 * Names a server for the tests. Tests that stop the server start one of their own in any case.
 */
export const URL_VARIABLE = 'PERDURE_TEST_POSTGRES_URL'

/** Everything of the machine that tests start or use, except Node.js, npm and `BASE_PROGRAMS`. */
export const TOOLS = {
  '/proc': { find: () => (existsSync('/proc/self/net/tcp') ? '/proc' : undefined) },
  bash: { debian: 'bash' },
  caddy: { debian: 'caddy' },
  chromium: { debian: 'chromium', find: () => givenOr(process.env.CHROMIUM_PATH, 'chromium') },
  curl: { debian: 'curl' },
  dpkg: { debian: 'dpkg' },
  ip: { debian: 'iproute2' },
  mount: { debian: 'mount', find: () => usable('mount', canMount) },
  nginx: { debian: 'nginx-light' },
  openssl: { debian: 'openssl' },
  pg_basebackup: { debian: 'postgresql', find: () => programOfServer('pg_basebackup') },
  pg_dump: { debian: 'postgresql-client' },
  pg_restore: { debian: 'postgresql-client' },
  pgrep: { debian: 'procps' },
  pkill: { debian: 'procps' },
  /** A server that a test starts, stops and restarts. */
  postgres: { debian: 'postgresql', find: () => programOfServer('postgres') },
  /** A server that test files share: the one that the environment names, or one that they start. */
  PostgreSQL: { debian: 'postgresql', find: () => process.env[URL_VARIABLE] ?? programOfServer('postgres') },
  /** A newer server than the distribution has, on which one suite is executed again. */
  'PostgreSQL 18': { find: () => process.env.TEST_POSTGRES_NEWEST },
  /** Builds and runs an image without a daemon. Other users than root would need more of the machine. */
  podman: { debian: 'podman', find: () => usable('podman', () => process.getuid?.() === 0) },
  promtool: { debian: 'prometheus' },
  psql: { debian: 'postgresql-client' },
  python3: { debian: 'python3' },
  runc: { debian: 'runc' },
  script: { debian: 'bsdutils' },
  sha256sum: { debian: 'coreutils' },
  sqlite3: { debian: 'sqlite3' },
  strace: { debian: 'strace', find: () => usable('strace', (path) => succeeds(path, '-o', '/dev/null', 'true')) },
  'systemd-analyze': { debian: 'systemd' },
  umount: { debian: 'mount' },
  unshare: { debian: 'util-linux', find: () => usable('unshare', (path) => succeeds(path, '--net', 'true')) },
  /** A Node.js that Perdure refuses. */
  'an old Node.js': { find: () => usable('/usr/bin/node', isOldNode) },
} as const satisfies Record<string, Tool>

export type ToolName = keyof typeof TOOLS

/** What a machine has on which a clone of the repository can be made and packages be installed. */
export const BASE_PROGRAMS = ['git', 'mkfifo', 'npm', 'npx', 'sh', 'tar'] as const

/** `TEST_TOOLS=none` hides every tool, as on a machine that has none. `.ci/run` does that once. */
const areHidden = process.env.TEST_TOOLS === 'none'

const places = new Map<ToolName, string | undefined>()

/** Returns the place of a tool, or `undefined` if this process cannot use it. */
export function findTool(name: ToolName): string | undefined {
  if (areHidden) return undefined
  const { find = () => onPath(name) }: Tool = TOOLS[name]
  if (!places.has(name)) places.set(name, find())
  return places.get(name)
}

/** Returns the path of a program. @throws with the package to install if the program is missing */
export function toolPath(name: ToolName): string {
  const path = findTool(name)
  if (path === undefined) throw new Error(missingMessage(name))
  return path
}

export function missingMessage(name: ToolName): string {
  const { debian }: Tool = TOOLS[name]
  return `${name} is missing${debian === undefined ? '' : `: apt-get install ${debian}`}`
}

/** The Debian packages of the tools that this machine lacks. */
export function missingPackages(): readonly string[] {
  const names = Object.keys(TOOLS) as ToolName[]
  const packages = names.map((name): Tool => (findTool(name) === undefined ? TOOLS[name] : {}))
  return [...new Set(packages.flatMap(({ debian }) => debian ?? []))].toSorted()
}

/** System administrators have these folders on their PATH; other users often do not. */
const MORE_FOLDERS = process.platform === 'win32' ? [] : ['/usr/sbin', '/sbin']

function onPath(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...MORE_FOLDERS]
  const file = process.platform === 'win32' ? `${name}.exe` : name
  return folders.map((folder) => join(folder, file)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

const givenOr = (given: string | undefined, name: string): string | undefined =>
  given === undefined ? onPath(name) : usable(given, existsSync)

/** The path of a program that exists and passes the check. */
function usable(name: string, check: (path: string) => boolean): string | undefined {
  const path = name.startsWith('/') && isExecutable(name) ? name : onPath(name)
  return path !== undefined && check(path) ? path : undefined
}

const succeeds = (path: string, ...args: readonly string[]): boolean =>
  spawnSync(path, args, { stdio: 'ignore' }).status === 0

/** Mounting needs a right that containers and users often lack. */
function canMount(path: string): boolean {
  const umount = onPath('umount')
  const folder = mkdtempSync(join(tmpdir(), 'perdure-mount-'))
  try {
    return umount !== undefined && succeeds(path, '-t', 'tmpfs', 'tmpfs', folder) && succeeds(umount, folder)
  } finally {
    rmdirSync(folder)
  }
}

function isOldNode(path: string): boolean {
  const version = execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' })
  return Number.parseInt(version, 10) < 22
}

function programOfServer(name: string): string | undefined {
  const folder = postgresPrograms()
  const path = folder && join(folder, name)
  return path !== undefined && serverUser() !== 'none' && existsSync(path) ? path : undefined
}
