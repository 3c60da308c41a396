import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAudit } from '@perdure/core'
import { createCheckpointFile, nodeDigest } from '@perdure/platform-node'
import { NO_AUDIT_KEY } from '@perdure/ports'
import { openSqliteStorage } from '@perdure/sqlite'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

const dir = temporaryDir()
const env = { PERDURE_STORAGE_PATH: 'data.db', PERDURE_AUTH_KIND: 'none' }
const after = (_: number, act: () => void) => {
  const timer = setImmediate(act)
  return () => clearImmediate(timer)
}
const checkpointPath = () => join(dir(), 'data.db.audit-checkpoints')

async function perdure(...args: readonly string[]) {
  const terminal = recordingTerminal({ cwd: dir(), env })
  const exitCode = await runCli([...args, '--json'], terminal)
  return { exitCode, document: JSON.parse(terminal.out()) as Record<string, never> }
}

async function inChain<T>(act: (audit: ReturnType<typeof createAudit>, append: () => Promise<void>) => Promise<T>) {
  const storage = await openSqliteStorage({ path: join(dir(), 'data.db') })
  const checkpoints = createCheckpointFile({ path: checkpointPath(), keys: NO_AUDIT_KEY })
  const quiet = () => undefined
  const audit = createAudit({
    main: storage,
    ...{ keys: NO_AUDIT_KEY, digest: nodeDigest, checkpoints, events: 'none' },
    clock: { now: () => 0, monotonicMs: () => 0 } as never,
    timers: { after } as never,
    ids: { randomBytes: () => new Uint8Array(8) } as never,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  })
  const actor = { kind: 'system', subject: 'test' } as const
  const entry = { at: 0, actor, action: 'test', decision: 'allowed' } as const
  const append = async () => {
    await storage.unitOfWork.commit([{ type: 'audit.append', entry: entry as never, keys: NO_AUDIT_KEY }])
    const { last } = await storage.audit.state()
    if (last !== undefined) await checkpoints.append({ ...last, at: 0 as never })
  }
  try {
    return await act(audit, append)
  } finally {
    await storage.close()
  }
}

const appendMany = (count: number) =>
  inChain(async (_, append) => {
    for (let entry = 0; entry < count; entry++) await append()
  })
const verify = (expected?: { size: number; hash: string }) => inChain((audit) => audit.verifyAudit(expected))

async function backupThenAppend(before: number, after: number) {
  await appendMany(before)
  expect((await perdure('backup', 'create', '--out', 'copy.db')).exitCode).toBe(0)
  await appendMany(after)
}

/** The value of the flag that the hint of a refused restore names. */
const namedHead = ({ hint }: Record<string, never>) => /--accept-audit-head (\S+?);/.exec(String(hint))?.[1] ?? ''

describe('perdure restore with an older audit log', () => {
  it('refuses the backup, changes nothing and names the flag that accepts its last entry', async () => {
    await backupThenAppend(3, 2)
    const before = readFileSync(checkpointPath(), 'utf8')

    const { exitCode, document } = await perdure('restore', 'copy.db')

    expect([exitCode, document.message]).toEqual([2, expect.stringMatching(/ends at entry 3 .* known entry 5/)])
    expect(namedHead(document)).toMatch(/^3:[0-9a-f]{64}$/)
    expect((await verify()).entries).toBe(5)
    expect(readFileSync(checkpointPath(), 'utf8')).toBe(before)
    expect(readdirSync(dir()).filter((name) => name.includes('before-restore'))).toEqual([])
  })

  it('restores the backup with the flag, and verification explains which entries were discarded', async () => {
    await backupThenAppend(3, 2)
    const { document } = await perdure('restore', 'copy.db')
    const lost = (await verify()).head

    const restored = await perdure('restore', 'copy.db', '--accept-audit-head', namedHead(document))

    expect(restored).toMatchObject({ exitCode: 0, document: { checkpoints: { path: checkpointPath() } } })
    const { kept } = restored.document.checkpoints as unknown as { readonly kept: string }
    expect(existsSync(kept)).toBe(true)
    const verification = await verify()
    expect(verification).toMatchObject({ ok: true, entries: 4, unanchoredTail: 0, restored: { seq: 4, lost } })
    expect(`3:${verification.restored?.head.hash}`).toBe(namedHead(document))
    await appendMany(3)
    expect(await verify()).toMatchObject({ ok: true, entries: 7, restored: { seq: 4 } })
    expect(await verify({ size: 5, hash: lost?.hash ?? '' })).toMatchObject({
      reason: 'expected-mismatch',
      restored: { seq: 4 },
    })
  })

  it('records who restored which backup', async () => {
    await backupThenAppend(1, 1)
    await perdure(
      'restore',
      'copy.db',
      '--accept-audit-head',
      namedHead((await perdure('restore', 'copy.db')).document),
    )

    const storage = await openSqliteStorage({ path: join(dir(), 'data.db') })
    const [entry] = await storage.audit.read({ afterSeq: 1, limit: 9 })
    await storage.close()
    expect(entry).toMatchObject({ action: 'audit.restored', actor: { subject: 'cli' } })
    expect(entry?.detail).toMatchObject({ backup: 'copy.db', user: expect.stringMatching(/./), headSeq: 1, lostSeq: 2 })
  })

  it('refuses a backup that lacks a checkpoint although the database is gone', async () => {
    await backupThenAppend(2, 2)
    writeFileSync(join(dir(), 'data.db'), '')

    expect((await perdure('restore', 'copy.db')).document.message).toMatch(/known entry 4/)
  })

  it('rejects a head that is not the last entry of the backup', async () => {
    await backupThenAppend(2, 1)
    const wrong = `1:${'0'.repeat(64)}`

    const { exitCode, document } = await perdure('restore', 'copy.db', '--accept-audit-head', wrong)

    expect([exitCode, document.message]).toEqual([2, expect.stringContaining('is not the last audit entry')])
    expect((await verify()).entries).toBe(3)
  })

  it('accepts a second older backup after the first one, and keeps only checkpoints of the restored chain', async () => {
    await backupThenAppend(2, 2)
    const accept = async (copy: string) =>
      perdure('restore', copy, '--accept-audit-head', namedHead((await perdure('restore', copy)).document))
    await perdure('backup', 'create', '--out', 'later.db')
    await accept('copy.db')
    await appendMany(4)

    expect((await accept('later.db')).exitCode).toBe(0)
    expect(await verify()).toMatchObject({ ok: true, entries: 5, restored: { seq: 5, lost: { seq: 7 } } })
  })

  it('uses the pepper that perdure dev has stored beside the database', async () => {
    await backupThenAppend(2, 0)
    const restore = () =>
      runCli(['restore', 'copy.db'], recordingTerminal({ cwd: dir(), env: { PERDURE_STORAGE_PATH: 'data.db' } }))

    expect(await restore()).toBe(2)
    writeFileSync(join(dir(), 'dev-pepper'), 'x'.repeat(48), { mode: 0o600 })
    expect(await restore()).toBe(0)
  })

  it('needs no flag for a backup that contains every known entry', async () => {
    await backupThenAppend(3, 0)

    const { exitCode, document } = await perdure('restore', 'copy.db')
    expect([exitCode, document.checkpoints]).toEqual([0, undefined])
    expect(await verify()).toMatchObject({ ok: true, entries: 3 })
    expect((await verify()).restored).toBeUndefined()
  })
})
