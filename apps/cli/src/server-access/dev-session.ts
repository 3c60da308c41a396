import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'

/** Where the server of `perdure dev` listens, and the token it made. */
const DevSession = v.object({ url: v.string(), token: v.optional(v.string()), pid: v.number() })

export type DevSession = v.InferOutput<typeof DevSession>

/** Beside the data of the folder `perdure dev` was started in; ignored by git as that is. */
const devSessionPath = (cwd: string): string => join(cwd, '.graphorin', 'dev-session.json')

/** Lets commands of this user in the same folder find the server. Readable by its owner only. */
export function writeDevSession(cwd: string, session: DevSession): void {
  const path = devSessionPath(cwd)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  writeFileSync(path, `${JSON.stringify(session)}\n`, { mode: 0o600, flag: 'wx' })
}

/** Forgets the session of this process; one that another `perdure dev` has written since stays. */
export function removeDevSession(cwd: string, pid: number): void {
  if (readDevSession(cwd)?.pid === pid) rmSync(devSessionPath(cwd), { force: true })
}

/** `undefined` when there is none, or what is there is none. */
export function readDevSession(cwd: string): DevSession | undefined {
  try {
    const parsed = v.safeParse(DevSession, JSON.parse(readFileSync(devSessionPath(cwd), 'utf8')))
    return parsed.success ? parsed.output : undefined
  } catch {
    return undefined
  }
}
