import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anEvent } from '@perdure/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStorage } from '../open-sqlite-storage.ts'
import { auditCopyOf, createBackup, verifyBackup } from './backup.ts'
import { restoreBackup } from './restore.ts'

/** These tests never lose power, so commits need no flush. */
const quick = { synchronous: 'normal' } as const
const encryption = { passphrase: Buffer.from('correct horse battery staple') }

let directory: string
let path: string
let audit: { readonly path: string; readonly encryption: typeof encryption }
let out: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-backup-'))
  path = join(directory, 'data.db')
  audit = { path: join(directory, 'audit.db'), encryption }
  out = join(directory, 'copies/copy.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Appends this many events to the database and this many entries to the audit log. */
async function fill(events: number, entries: number): Promise<void> {
  const main = await openSqliteStorage({ path, ...quick })
  const log = await openSqliteStorage({ ...audit, ...quick })
  await main.unitOfWork.commit([
    { type: 'event.append', events: Array.from({ length: events }, () => anEvent({ topic: 'all' })) },
  ])
  const actor = { kind: 'system', subject: 'test' } as const
  const entry = { at: anEvent().at, actor, action: 'test', decision: 'allowed' } as const
  await log.unitOfWork.commit(Array.from({ length: entries }, () => ({ type: 'audit.append', entry }) as const))
  await Promise.all([main.close(), log.close()])
}

async function counts() {
  const main = await openSqliteStorage({ path, ...quick })
  const log = await openSqliteStorage({ ...audit, ...quick })
  const events = await main.events.count({ topic: 'all' }, { after: 0, through: 1e9 })
  const entries = (await log.audit.read({ afterSeq: 0, limit: 500 })).length
  await Promise.all([main.close(), log.close()])
  return { events, entries }
}

describe('a backup with a separate audit log', () => {
  it('copies and restores the database and the audit log', async () => {
    await fill(5, 7)
    const manifest = await createBackup(path, { out, audit })
    await fill(3, 2)

    expect(manifest).toMatchObject({ file: 'copy.db', audit: { file: 'copy.db.audit', bytes: expect.any(Number) } })
    expect((await verifyBackup(out, { auditEncryption: encryption })).problems).toEqual([])
    const { kept, audit: restored } = await restoreBackup(out, { path, audit })
    expect(await counts()).toEqual({ events: 5, entries: 7 })
    expect([kept, restored?.kept].every((name) => name?.includes('.before-restore-'))).toBe(true)
  })

  it('fails verification and is not restored when its audit log is missing', async () => {
    await fill(1, 1)
    await createBackup(path, { out, audit })
    rmSync(auditCopyOf(out))

    const { problems } = await verifyBackup(out, { auditEncryption: encryption })
    expect(problems).toEqual([expect.stringContaining('copy.db.audit')])
    await expect(restoreBackup(out, { path, audit })).rejects.toMatchObject({ kind: 'storage-corrupt' })
  })

  it('fails verification when its audit log was altered, whether or not a passphrase is given', async () => {
    await fill(1, 1)
    await createBackup(path, { out, audit })
    writeFileSync(auditCopyOf(out), 'altered')

    for (const auditEncryption of [encryption, undefined]) {
      expect((await verifyBackup(out, { auditEncryption })).problems[0]).toMatch(/^audit log: the copy has 7 bytes/)
    }
  })

  it('leaves no file when the audit log cannot be copied', async () => {
    await fill(1, 1)
    const wrong = { ...audit, encryption: { passphrase: Buffer.from('wrong') } }

    await expect(createBackup(path, { out, audit: wrong })).rejects.toMatchObject({
      kind: 'encryption-passphrase-wrong',
    })
    expect(readdirSync(directory).toSorted()).not.toContain('copies')
  })

  it('is not restored while a server holds the audit log', async () => {
    await fill(1, 1)
    await createBackup(path, { out, audit })
    const log = await openSqliteStorage({ ...audit, ...quick })

    await expect(restoreBackup(out, { path, audit })).rejects.toMatchObject({ kind: 'storage-locked' })
    await log.close()
    expect(readdirSync(directory).filter((name) => name.includes('before-restore'))).toEqual([])
  })
})
