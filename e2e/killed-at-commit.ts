import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MODULE = join(import.meta.dirname, 'fixtures/killed-at-commit.cjs')

export type CommitKiller = ReturnType<typeof createCommitKiller>

/** Kills a server, with SIGKILL, once its database has stored a certain commit, before the server knows. */
export function createCommitKiller() {
  const killAt = join(mkdtempSync(join(tmpdir(), 'perdure-kill-')), 'at')
  const counted = `${killAt}.counted`
  /** How many commits were counted, and whether the last one has killed the server. */
  const peek = () => {
    const commits = existsSync(counted) ? statSync(counted).size : 0
    return { commits, hasKilled: commits >= Number(readFileSync(killAt, 'utf8')) }
  }
  return {
    peek,
    env: {
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(MODULE)}`.trimStart(),
      E2E_KILL_AT: killAt,
    },
    /** Counts the commits from now; the nth one kills. */
    arm(nth: number) {
      rmSync(counted, { force: true })
      // The server may read the file at any time, and must never find it empty.
      writeFileSync(`${killAt}.next`, String(nth))
      renameSync(`${killAt}.next`, killAt)
    },
    disarm() {
      const counts = peek()
      rmSync(killAt)
      return counts
    },
  }
}
