import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pnpmCommand } from '../consumer/packages.ts'

/** The command line that adds packages to the project in the working folder. */
type Add = (...names: readonly string[]) => readonly [file: string, args: readonly string[]]

const YARN = createRequire(import.meta.url).resolve('yarn/bin/yarn.js')
const platform = `${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}`

/** @throws if the platform has no Bun: a client that is left out would hide that packages cannot be installed with it */
function bun(): string {
  const folder = join(import.meta.dirname, '../node_modules/@oven', `bun-${platform}`)
  const path = join(folder, 'bin/bun')
  if (existsSync(path)) return path
  throw new Error(`no Bun for ${platform}: add @oven/bun-${platform} to the optional dependencies of tooling`)
}

/** The clients with which the rehearsal installs the packages. */
export const PACKAGE_MANAGERS = {
  npm: (...names) => ['npm', ['install', '--no-audit', '--no-fund', ...names]],
  pnpm: (...names) => pnpmCommand(['add', ...names]),
  // Without the flag, Yarn 1 compiles the driver of SQLite although the package has the compiled file.
  yarn: (...names) => [process.execPath, [YARN, 'add', '--ignore-scripts', '--no-progress', ...names]],
  bun: (...names) => [bun(), ['add', ...names]],
} as const satisfies Readonly<Record<string, Add>>
