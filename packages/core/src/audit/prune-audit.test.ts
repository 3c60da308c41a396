import type { Write } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { aRequest, createTestAudit, entriesOf, flushPromises, KEYS, replayWriteOf } from './audit.fixture.ts'
import { createAudit } from './audit.ts'

const DAY = 86_400_000
const setUpOldEntries = async () => {
  const test = createTestAudit()
  await test.audit.start()
  for (let day = 0; day < 20; day++) {
    const entry = { ...replayWriteOf(aRequest()) } as Extract<Write, { readonly type: 'audit.append' }>
    await test.audit.unitOfWork.commit([{ ...entry, entry: { ...entry.entry, at: test.clock.now() } }])
    if (day % 3 === 2) test.clock.advance(DAY)
    else test.clock.setWall(test.clock.now() + DAY)
    await flushPromises()
  }
  return test
}

describe('audit retention', () => {
  it('removes old entries up to a checkpoint, records the removal, and leaves a chain that verifies', async () => {
    const test = await setUpOldEntries()
    const before = await entriesOf(test.main)
    await createAudit({ ...test.deps, retentionDays: 10 }).prune()
    const after = await entriesOf(test.main)

    expect(after[0]!.seq).toBeGreaterThan(1)
    expect(after.slice(0, -1)).toEqual(before.filter(({ seq }) => seq >= after[0]!.seq))
    expect(after.at(-1)).toMatchObject({ action: 'audit.prune', detail: { through: after[0]!.seq - 1 } })
    expect(await test.audit.verifyAudit()).toMatchObject({ ok: true, entries: after.length })
    const base = before[after[0]!.seq - 2]!
    expect(await test.audit.verifyAudit({ size: base.seq, hash: base.hash })).toMatchObject({ ok: true })
    expect(await test.audit.verifyAudit({ size: base.seq, hash: after[0]!.hash })).toMatchObject({
      reason: 'expected-mismatch',
    })
    expect(await test.audit.verifyAudit({ size: 1, hash: before[0]!.hash })).toMatchObject({
      reason: 'expected-pruned',
    })
  })

  it('removes nothing unless retention is configured', async () => {
    const { audit, main, clock } = createTestAudit()
    await audit.start()
    await audit.unitOfWork.commit([replayWriteOf(aRequest())])
    clock.advance(100 * DAY)
    await audit.prune()

    expect(await entriesOf(main)).toHaveLength(1)
  })
})

describe('verifyAudit after a removal of entries', () => {
  it('detects a cut between checkpoints, even if the cut is signed with the audit key', async () => {
    const test = await setUpOldEntries()
    const seqs: number[] = []
    for await (const { checkpoint } of test.checkpoints.read()) seqs.push(checkpoint!.seq)
    const betweenCheckpoints = seqs[0]! + 1
    await test.main.unitOfWork.commit([{ type: 'audit.prune', throughSeq: betweenCheckpoints, keys: KEYS }])

    expect(await test.audit.verifyAudit()).toMatchObject({
      ok: false,
      reason: 'base-unanchored',
      firstBadSeq: betweenCheckpoints + 1,
    })
  })
})
