import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { ignoreContent } from '../private-folder.ts'

/** Where the server of `perdure dev` listens, and its token. */
const DevSession = v.object({ url: v.string(), token: v.optional(v.string()), pid: v.number() })

export type DevSession = v.InferOutput<typeof DevSession>

/** Next to the default database, in the folder where `perdure dev` was started. */
export const devSessionPath = (cwd: string): string => join(cwd, '.graphorin', 'dev-session.json')

/** Lets commands in the same folder find the server. Only the owner can read the file. */
export function writeDevSession(cwd: string, session: DevSession): void {
  const path = devSessionPath(cwd)
  const folder = dirname(path)
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    ignoreContent(folder)
  }
  rmSync(path, { force: true })
  writeFileSync(path, `${JSON.stringify(session)}\n`, { mode: 0o600, flag: 'wx' })
}

/** Removes the session file if `pid` wrote it, and keeps one written by another `perdure dev`. */
export function removeDevSession(cwd: string, pid: number): void {
  if (readDevSession(cwd)?.pid === pid) rmSync(devSessionPath(cwd), { force: true })
}

/** `undefined` if the file is missing or invalid. */
export function readDevSession(cwd: string): DevSession | undefined {
  try {
    const parsed = v.safeParse(DevSession, JSON.parse(readFileSync(devSessionPath(cwd), 'utf8')))
    return parsed.success ? parsed.output : undefined
  } catch {
    return undefined
  }
}
