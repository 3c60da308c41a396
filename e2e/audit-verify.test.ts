import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createVerifyAudit } from '../packages/core/src/audit/verify-audit.ts'
import { nodeDigest } from '../packages/platform-node/src/index.ts'
import { type AuditKeys, type EpochMs, NO_AUDIT_KEY } from '../packages/ports/src/index.ts'
import { openSqliteStorage } from '../packages/sqlite/src/index.ts'

const ENTRIES = 100_000
const PAGE = 500
const KEYS: AuditKeys = NO_AUDIT_KEY
const directory = mkdtempSync(join(tmpdir(), 'perdure-audit-verify-'))
afterAll(() => rmSync(directory, { recursive: true }))

it(`verifies ${ENTRIES} audit entries one page at a time and yields to other work after each page`, async () => {
  const encryption = { passphrase: Buffer.from('passphrase') }
  const storage = await openSqliteStorage({ path: join(directory, 'audit.db'), synchronous: 'normal', encryption })
  const entryOf = (n: number) => ({
    at: n as EpochMs,
    actor: { kind: 'token', id: 'tok_1', subject: 'alice' } as const,
    action: 'agents.list',
    decision: 'allowed' as const,
  })
  for (let n = 0; n < ENTRIES; n += 1_000) {
    const writes = Array.from(
      { length: 1_000 },
      (_, i) => ({ type: 'audit.append', entry: entryOf(n + i), keys: KEYS }) as const,
    )
    await storage.unitOfWork.commit(writes)
  }

  let largestPage = 0
  let otherTurns = 0
  let isDone = false
  const others = () => {
    otherTurns += 1
    if (!isDone) setImmediate(others)
  }
  setImmediate(others)
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  let highest = 0
  const verify = createVerifyAudit({
    chain: {
      state: storage.audit.state,
      async links(range) {
        const page = await storage.audit.links(range)
        largestPage = Math.max(largestPage, page.length)
        return page
      },
    },
    keys: KEYS,
    digest: nodeDigest,
    async pause() {
      highest = Math.max(highest, process.memoryUsage().heapUsed)
      await new Promise((resolve) => setImmediate(resolve))
    },
  })
  const started = performance.now()
  const verification = await verify()
  isDone = true

  console.log(
    `${Math.round(performance.now() - started)} ms, heap grew by ${Math.round((highest - before) / 1_048_576)} MiB at most`,
  )
  expect(verification).toMatchObject({ ok: true, entries: ENTRIES })
  expect(largestPage).toBe(PAGE)
  expect(otherTurns).toBeGreaterThanOrEqual(ENTRIES / PAGE - 1)
  await storage.close()
})
