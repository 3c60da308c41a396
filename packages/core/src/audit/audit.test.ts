import type { Storage, Write } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { all, aRequest, createTestAudit, deedOf, KEYS, settled } from './audit.fixture.ts'
import { createAudit } from './audit.ts'
import { auditingUnitOfWork } from './audit-unit-of-work.ts'
import { auditWrite } from './audit-write.ts'

const PRIVILEGED = { operationId: 'runs.replay', isPrivileged: true } as const
const actions = async (storage: Storage) => (await all(storage)).map(({ action }) => action)

describe('a chain in a file of its own', () => {
  it('has one entry for a request and its deed', async () => {
    const { audit, main, file } = createTestAudit({ inFile: true })
    const request = aRequest(PRIVILEGED)
    await audit.unitOfWork.commit([deedOf(request)])
    expect(await main.audit.staged(9)).toHaveLength(1)

    await audit.onAnswer(request)
    await settled()

    expect(await all(file)).toMatchObject([
      { action: 'runs.replay', status: 200, target: 'run_1', detail: { raw: true } },
    ])
    expect(await main.audit.staged(9)).toEqual([])
  })

  it('has an entry for each deed of a request with several', async () => {
    const { audit, file } = createTestAudit({ inFile: true })
    const request = aRequest({ operationId: 'runs.resume' })
    await audit.unitOfWork.commit([deedOf(request), deedOf(request)])
    await audit.onAnswer(request)
    await settled()

    expect(await actions(file)).toEqual(['runs.resume', 'runs.replay', 'runs.replay'])
  })

  it('stages nothing for a deed that was not done', async () => {
    const { audit, main } = createTestAudit({ inFile: true })
    const fence: Write = { type: 'run.fence', runId: 'nobody', attempt: 1 }

    expect((await audit.unitOfWork.commit([deedOf(aRequest()), fence])).committed).toBe(false)
    expect(await main.audit.staged(9)).toEqual([])
  })

  it.each(['before the entry is in the file', 'before it is released', 'before its source is forgotten'])(
    'has the entry of a deed once when the process dies %s',
    async (moment) => {
      const { audit, deps, main, file } = createTestAudit({ inFile: true })
      await audit.unitOfWork.commit([deedOf(aRequest())])
      const [staged] = await main.audit.staged(1)
      const { key, entry } = staged!
      if (moment !== 'before the entry is in the file') {
        await file.unitOfWork.commit([{ type: 'audit.append', entry, source: key, keys: KEYS }])
      }
      if (moment === 'before its source is forgotten')
        await main.unitOfWork.commit([{ type: 'audit.release', keys: [key] }])

      const next = createAudit(deps)
      await next.start()
      await next.stop()

      expect(await actions(file)).toEqual(['runs.replay'])
      expect(await main.audit.staged(9)).toEqual([])
    },
  )

  it('takes in what another process has staged', async () => {
    const { audit, deps, clock, main, file } = createTestAudit({ inFile: true })
    await audit.start()
    const cli = auditingUnitOfWork(main.unitOfWork, { ...deps, isStaged: true })
    await cli.commit([auditWrite({ subject: 'cli' }, { at: 1 as never, action: 'tokens.create' })])

    clock.advance(1_000)
    await settled()

    expect(await actions(file)).toEqual(['tokens.create'])
  })

  it('lets nothing privileged be done while it cannot be written, and goes on with the rest', async () => {
    const { audit, fault, file, clock, errors } = createTestAudit({ inFile: true })
    fault.isBroken = true

    await expect(audit.admit({ isPrivileged: true, isPublic: false })).rejects.toMatchObject({
      id: 'audit-unavailable',
    })
    await expect(audit.onAnswer(aRequest(PRIVILEGED))).rejects.toMatchObject({ id: 'audit-unavailable' })
    await expect(
      audit.onAnswer(aRequest({ ...PRIVILEGED, status: 403, error: 'scope-denied' })),
    ).resolves.toBeUndefined()
    for (let n = 0; n < 3; n++) {
      await audit.admit({ isPrivileged: false, isPublic: false })
      await audit.onAnswer(aRequest({ target: `${n}` }))
    }
    await settled()
    expect(audit.health()).toEqual({ status: 'fail', message: 'the audit file cannot be written' })
    expect(errors).toContain('audit entries cannot be written; they are kept in memory')

    fault.isBroken = false
    clock.advance(1_000)
    await settled()
    expect((await all(file)).map(({ target }) => target)).toEqual(['0', '1', '2'])
    expect(audit.health()).toEqual({ status: 'ok' })
    await expect(audit.admit({ isPrivileged: true, isPublic: false })).resolves.toBeUndefined()
    expect(await all(file)).toHaveLength(3)
  })

  it('answers a deed that is staged, though the file has failed since', async () => {
    const { audit, fault, file, clock, main } = createTestAudit({ inFile: true })
    await audit.start()
    const request = aRequest(PRIVILEGED)
    await audit.unitOfWork.commit([deedOf(request)])
    fault.isBroken = true
    await expect(audit.onAnswer(request)).resolves.toBeUndefined()
    expect(await main.audit.staged(9)).toHaveLength(1)

    await settled()
    fault.isBroken = false
    clock.advance(1_000)
    await settled()
    expect(await actions(file)).toEqual(['runs.replay'])
  })

  it('closes for all but public operations when the spool is full', async () => {
    const { audit, fault } = createTestAudit({ inFile: true })
    fault.isBroken = true
    for (let n = 0; n < 10_001; n++) await audit.onAnswer(aRequest())
    await settled()

    await expect(audit.admit({ isPrivileged: false, isPublic: false })).rejects.toMatchObject({
      id: 'audit-unavailable',
    })
    await expect(audit.admit({ isPrivileged: false, isPublic: true })).resolves.toBeUndefined()
  })

  it('says how many entries are lost when it stops without being able to write them', async () => {
    const { audit, fault, errors } = createTestAudit({ inFile: true })
    fault.isBroken = true
    await audit.onAnswer(aRequest())
    await audit.stop()

    expect(errors).toContain('audit entries are lost')
  })

  it('counts refusals of nobody per address and minute', async () => {
    const { audit, clock, file } = createTestAudit({ inFile: true })
    const nobody = { principal: undefined, status: 401 }
    for (let n = 0; n < 3; n++) await audit.onAnswer(aRequest({ ...nobody, error: 'auth-invalid' }))
    await audit.onAnswer(aRequest({ ...nobody, error: 'auth-required', clientAddress: '10.0.0.2' }))
    await audit.onAnswer(
      aRequest({
        principal: undefined,
        operationId: undefined,
        error: 'route-not-found',
        status: 404,
        clientAddress: '10.0.0.3',
      }),
    )
    clock.advance(60_000)
    await settled()
    await audit.onAnswer(aRequest({ ...nobody, error: 'auth-invalid' }))
    await audit.stop()

    expect((await all(file)).map(({ action, ip, detail }) => [action, ip, detail])).toEqual([
      ['auth.failed', '10.0.0.1', { count: 3, 'auth-invalid': 3 }],
      ['auth.failed', '10.0.0.2', { count: 1, 'auth-required': 1 }],
      ['requests.refused', '10.0.0.3', { count: 1, 'route-not-found': 1 }],
      ['auth.failed', '10.0.0.1', { count: 1, 'auth-invalid': 1 }],
    ])
  })

  it('counts a bounded number of addresses apart, and the others together', async () => {
    const { audit, file } = createTestAudit({ inFile: true })
    for (let n = 0; n < 1_050; n++) {
      await audit.onAnswer(aRequest({ principal: undefined, error: 'auth-invalid', clientAddress: `a${n}` }))
    }
    await audit.stop()

    const entries = await all(file)
    expect(entries).toHaveLength(1_001)
    expect(entries.reduce((sum, { detail }) => sum + Number(detail?.count), 0)).toBe(1_050)
  })

  it.each([
    ['privileged', ['runs.replay']],
    ['all', ['agents.list', 'runs.replay']],
    ['none', []],
  ] as const)('tells the event log of %s entries', async (events, expected) => {
    const { audit, main } = createTestAudit({ inFile: true, events })
    await audit.start()
    await audit.onAnswer(aRequest())
    await audit.onAnswer(aRequest(PRIVILEGED))
    await audit.stop()

    const published = await main.events.read({ topic: 'audit/events' }, { after: 0, limit: 9 })
    expect(published.map(({ payload }) => JSON.parse(payload).action)).toEqual(expected)
  })
})

describe('checkpoints', () => {
  const seqs = async ({ checkpoints }: ReturnType<typeof createTestAudit>) => {
    const found: number[] = []
    for await (const { checkpoint } of checkpoints.read()) found.push(checkpoint!.seq)
    return found
  }
  const append = (audit: ReturnType<typeof createTestAudit>['audit'], count: number) =>
    audit.unitOfWork.commit(Array.from({ length: count }, () => deedOf(aRequest())))

  it('are written every 1,000 entries, and 60 seconds after news', async () => {
    const test = createTestAudit()
    await test.audit.start()
    await append(test.audit, 999)
    await settled()
    expect(await seqs(test)).toEqual([])
    await append(test.audit, 1)
    await settled()
    expect(await seqs(test)).toEqual([1_000])

    await append(test.audit, 1)
    test.clock.advance(59_999)
    await settled()
    expect(await seqs(test)).toEqual([1_000])
    test.clock.advance(1)
    await settled()
    expect(await seqs(test)).toEqual([1_000, 1_001])
    test.clock.advance(600_000)
    await settled()
    expect(await seqs(test)).toEqual([1_000, 1_001])
  })

  it('make health warn when the chain is behind them at the start', async () => {
    const test = createTestAudit()
    await test.checkpoints.append({ seq: 5, hash: 'a'.repeat(64), at: 1 as never })
    await test.audit.start()

    expect(test.audit.health()).toMatchObject({ status: 'warn' })
    expect(await test.audit.verifyAudit()).toMatchObject({ ok: false, reason: 'truncated', firstBadSeq: 1 })
  })

  it('make health warn while they cannot be written', async () => {
    const { audit } = createTestAudit({
      checkpoints: { append: () => Promise.reject(new Error('read-only')), async *read() {} },
    })
    await audit.start()
    await append(audit, 1_000)
    await settled()

    expect(audit.health()).toEqual({ status: 'warn', message: 'audit checkpoints cannot be written' })
  })
})
