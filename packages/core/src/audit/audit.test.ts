import { type AuditKeys, NO_AUDIT_KEY, type Storage, type Write } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { aRequest, createTestAudit, entriesOf, flushPromises, KEYS, replayWriteOf } from './audit.fixture.ts'
import { createAudit } from './audit.ts'
import { auditingUnitOfWork } from './audit-unit-of-work.ts'
import { auditWrite } from './audit-write.ts'

const PRIVILEGED = { operationId: 'runs.replay', isPrivileged: true } as const
const actions = async (storage: Storage) => (await entriesOf(storage)).map(({ action }) => action)

describe('audit chain in its own file', () => {
  it('writes a single entry for a request with one privileged action', async () => {
    const { audit, main, file } = createTestAudit({ inFile: true })
    const request = aRequest(PRIVILEGED)
    await audit.unitOfWork.commit([replayWriteOf(request)])
    expect(await main.audit.staged(9)).toHaveLength(1)

    await audit.onAnswer(request)
    await flushPromises()

    expect(await entriesOf(file)).toMatchObject([
      { action: 'runs.replay', status: 200, target: 'run_1', detail: { raw: true } },
    ])
    expect(await main.audit.staged(9)).toEqual([])
  })

  it('writes one entry per action for a request with several actions', async () => {
    const { audit, file } = createTestAudit({ inFile: true })
    const request = aRequest({ operationId: 'runs.resume' })
    await audit.unitOfWork.commit([replayWriteOf(request), replayWriteOf(request)])
    await audit.onAnswer(request)
    await flushPromises()

    expect(await actions(file)).toEqual(['runs.resume', 'runs.replay', 'runs.replay'])
  })

  it('stages nothing for an action whose commit failed', async () => {
    const { audit, main } = createTestAudit({ inFile: true })
    const fence: Write = { type: 'run.fence', runId: 'run_missing', attempt: 1 }

    expect((await audit.unitOfWork.commit([replayWriteOf(aRequest()), fence])).committed).toBe(false)
    expect(await main.audit.staged(9)).toEqual([])
  })

  it.each(['before the entry is in the file', 'before the staged entry is released', 'before the source is removed'])(
    'writes the entry of an action exactly once if the process crashes %s',
    async (moment) => {
      const { audit, deps, main, file } = createTestAudit({ inFile: true })
      await audit.unitOfWork.commit([replayWriteOf(aRequest())])
      const [staged] = await main.audit.staged(1)
      const { key, entry } = staged!
      if (moment !== 'before the entry is in the file') {
        await file.unitOfWork.commit([{ type: 'audit.append', entry, source: key, keys: KEYS }])
      }
      if (moment === 'before the source is removed')
        await main.unitOfWork.commit([{ type: 'audit.release', keys: [key] }])

      const restarted = createAudit(deps)
      await restarted.start()
      await restarted.stop()

      expect(await actions(file)).toEqual(['runs.replay'])
      expect(await main.audit.staged(9)).toEqual([])
    },
  )

  it('moves entries staged by another process into the chain', async () => {
    const { audit, deps, clock, main, file } = createTestAudit({ inFile: true })
    await audit.start()
    const cli = auditingUnitOfWork(main.unitOfWork, { ...deps, isStaged: true })
    await cli.commit([auditWrite({ subject: 'cli' }, { at: 1 as never, action: 'tokens.create' })])

    clock.advance(1_000)
    await flushPromises()

    expect(await actions(file)).toEqual(['tokens.create'])
  })

  it('rejects privileged requests while the file cannot be written, and admits all other requests', async () => {
    const { audit, fault, file, clock, errors } = createTestAudit({ inFile: true })
    fault.isActive = true

    await expect(audit.admit({ isPrivileged: true, isPublic: false })).rejects.toMatchObject({
      code: 'audit-unavailable',
    })
    await expect(audit.onAnswer(aRequest(PRIVILEGED))).rejects.toMatchObject({ code: 'audit-unavailable' })
    await expect(
      audit.onAnswer(aRequest({ ...PRIVILEGED, status: 403, error: 'scope-denied' })),
    ).resolves.toBeUndefined()
    for (let n = 0; n < 3; n++) {
      await audit.admit({ isPrivileged: false, isPublic: false })
      await audit.onAnswer(aRequest({ target: `${n}` }))
    }
    await flushPromises()
    expect(audit.health()).toEqual({ status: 'fail', message: 'the audit file cannot be written' })
    expect(errors).toContain('cannot write audit entries; keeping them in memory')

    fault.isActive = false
    clock.advance(1_000)
    await flushPromises()
    expect((await entriesOf(file)).map(({ target }) => target)).toEqual(['0', '1', '2'])
    expect(audit.health()).toEqual({ status: 'ok' })
    await expect(audit.admit({ isPrivileged: true, isPublic: false })).resolves.toBeUndefined()
    expect(await entriesOf(file)).toHaveLength(3)
  })

  it('answers a request whose action is already staged, even if the file cannot be written', async () => {
    const { audit, fault, file, clock, main } = createTestAudit({ inFile: true })
    await audit.start()
    const request = aRequest(PRIVILEGED)
    await audit.unitOfWork.commit([replayWriteOf(request)])
    fault.isActive = true
    await expect(audit.onAnswer(request)).resolves.toBeUndefined()
    expect(await main.audit.staged(9)).toHaveLength(1)

    await flushPromises()
    fault.isActive = false
    clock.advance(1_000)
    await flushPromises()
    expect(await actions(file)).toEqual(['runs.replay'])
  })

  it('rejects all operations except public ones while the spool is full', async () => {
    const { audit, fault } = createTestAudit({ inFile: true })
    fault.isActive = true
    for (let n = 0; n < 10_001; n++) await audit.onAnswer(aRequest())
    await flushPromises()

    await expect(audit.admit({ isPrivileged: false, isPublic: false })).rejects.toMatchObject({
      code: 'audit-unavailable',
    })
    await expect(audit.admit({ isPrivileged: false, isPublic: true })).resolves.toBeUndefined()
  })

  it('logs an error if entries cannot be written during shutdown', async () => {
    const { audit, fault, errors } = createTestAudit({ inFile: true })
    fault.isActive = true
    await audit.onAnswer(aRequest())
    await audit.stop()

    expect(errors).toContain('shutdown lost audit entries')
  })

  it('counts refused unauthenticated requests per address and minute', async () => {
    const { audit, clock, file } = createTestAudit({ inFile: true })
    const unauthenticated = { principal: undefined, status: 401 }
    for (let n = 0; n < 3; n++) await audit.onAnswer(aRequest({ ...unauthenticated, error: 'auth-invalid' }))
    await audit.onAnswer(aRequest({ ...unauthenticated, error: 'auth-required', clientAddress: '10.0.0.2' }))
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
    await flushPromises()
    await audit.onAnswer(aRequest({ ...unauthenticated, error: 'auth-invalid' }))
    await audit.stop()

    expect((await entriesOf(file)).map(({ action, ip, detail }) => [action, ip, detail])).toEqual([
      ['auth.failed', '10.0.0.1', { count: 3, 'auth-invalid': 3 }],
      ['auth.failed', '10.0.0.2', { count: 1, 'auth-required': 1 }],
      ['requests.refused', '10.0.0.3', { count: 1, 'route-not-found': 1 }],
      ['auth.failed', '10.0.0.1', { count: 1, 'auth-invalid': 1 }],
    ])
  })

  it('counts refusals for up to 1,000 addresses separately, and for all other addresses together', async () => {
    const { audit, file } = createTestAudit({ inFile: true })
    for (let n = 0; n < 1_050; n++) {
      await audit.onAnswer(aRequest({ principal: undefined, error: 'auth-invalid', clientAddress: `a${n}` }))
    }
    await audit.stop()

    const entries = await entriesOf(file)
    expect(entries).toHaveLength(1_001)
    expect(entries.reduce((sum, { detail }) => sum + Number(detail?.count), 0)).toBe(1_050)
  })

  it.each([
    ['privileged', ['runs.replay']],
    ['all', ['agents.list', 'runs.replay']],
    ['none', []],
  ] as const)('publishes the entries selected by the option events: %s', async (events, expected) => {
    const { audit, main } = createTestAudit({ inFile: true, events })
    await audit.start()
    await audit.onAnswer(aRequest())
    await audit.onAnswer(aRequest(PRIVILEGED))
    await audit.stop()

    const published = await main.events.read({ topic: 'audit/events' }, { after: 0, limit: 9 })
    expect(published.map(({ payload }) => JSON.parse(payload).action)).toEqual(expected)
  })
})

describe('the start of an audit chain', () => {
  const OTHER: AuditKeys = [Buffer.from('another key')]

  it.each<[string, AuditKeys, AuditKeys, number]>([
    ['warns that another secret signed its newest entry', KEYS, OTHER, 1],
    ['does not warn if an earlier secret of the server signed it', KEYS, [...OTHER, ...KEYS], 0],
    ['does not warn if it was begun without a secret', NO_AUDIT_KEY, KEYS, 0],
    ['does not warn if the server has no secret', KEYS, NO_AUDIT_KEY, 0],
  ])('%s', async (_, signing, starting, warnings) => {
    const signed = createTestAudit({ keys: signing })
    await signed.audit.unitOfWork.commit([replayWriteOf(aRequest())])

    const started = createTestAudit({ main: signed.main, keys: starting })
    await started.audit.start()

    expect(started.warnings).toHaveLength(warnings)
  })

  it('does not warn when it is empty', async () => {
    const { audit, warnings } = createTestAudit()
    await audit.start()

    expect(warnings).toEqual([])
  })
})

describe('the audit checkpointer', () => {
  const seqs = async ({ checkpoints }: ReturnType<typeof createTestAudit>) => {
    const found: number[] = []
    for await (const { checkpoint } of checkpoints.read()) found.push(checkpoint!.seq)
    return found
  }
  const append = (audit: ReturnType<typeof createTestAudit>['audit'], count: number) =>
    audit.unitOfWork.commit(Array.from({ length: count }, () => replayWriteOf(aRequest())))

  it('writes a checkpoint after 1,000 entries, and every 60 seconds if there are new entries', async () => {
    const test = createTestAudit()
    await test.audit.start()
    await append(test.audit, 999)
    await flushPromises()
    expect(await seqs(test)).toEqual([])
    await append(test.audit, 1)
    await flushPromises()
    expect(await seqs(test)).toEqual([1_000])

    await append(test.audit, 1)
    test.clock.advance(59_999)
    await flushPromises()
    expect(await seqs(test)).toEqual([1_000])
    test.clock.advance(1)
    await flushPromises()
    expect(await seqs(test)).toEqual([1_000, 1_001])
    test.clock.advance(600_000)
    await flushPromises()
    expect(await seqs(test)).toEqual([1_000, 1_001])
  })

  it('reports a health warning if the chain is behind its checkpoints at startup', async () => {
    const test = createTestAudit()
    await test.checkpoints.append({ seq: 5, hash: 'a'.repeat(64), at: 1 as never })
    await test.audit.start()

    expect(test.audit.health()).toMatchObject({ status: 'warn' })
    expect(await test.audit.verifyAudit()).toMatchObject({ ok: false, reason: 'truncated', firstBadSeq: 1 })
  })

  it.each([
    ['with the next checkpoint', 1],
    ['within 60 seconds, without a new entry', 0],
  ])('reports a health warning when its checkpoints are removed, %s', async (_, entries) => {
    const test = createTestAudit()
    await test.audit.start()
    await append(test.audit, 1_000)
    await flushPromises()
    expect(test.audit.health()).toEqual({ status: 'ok' })

    test.checkpoints.clear()
    await append(test.audit, entries)
    test.clock.advance(60_000)
    await flushPromises()

    expect(test.audit.health()).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('removed or replaced'),
    })
    test.clock.advance(600_000)
    await flushPromises()
    expect(test.errors).toHaveLength(1)
    expect(await seqs(test)).toEqual(entries === 0 ? [] : [1_001])
  })

  it('refuses a fifth verification while four run or wait, and accepts one once they have ended', async () => {
    const { audit } = createTestAudit()
    await append(audit, 2)
    const four = Array.from({ length: 4 }, () => audit.verifyAudit())

    await expect(audit.verifyAudit()).rejects.toMatchObject({ code: 'overloaded' })
    expect((await Promise.all(four)).map(({ ok }) => ok)).toEqual([true, true, true, true])
    expect(await audit.verifyAudit()).toMatchObject({ ok: true })
  })

  it('reports a health warning while checkpoints cannot be written', async () => {
    const { audit } = createTestAudit({
      checkpoints: {
        append: () => Promise.reject(new Error('read-only')),
        async *read() {},
        isIntact: async () => true,
      },
    })
    await audit.start()
    await append(audit, 1_000)
    await flushPromises()

    expect(audit.health()).toEqual({ status: 'warn', message: 'audit checkpoints cannot be written' })
  })
})
