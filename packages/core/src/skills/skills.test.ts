import { createInMemorySkillStore, createInMemoryStorage } from '@perdure/in-memory'
import { isRefusal, type PageQuery, perdureError, type SkillStore, type UnitOfWork } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { ServiceCaller } from '../durable/service-caller.ts'
import { agentOf, createTestEngine, silentLogger } from '../engine/test-engine.fixture.ts'
import { createRecall } from '../idempotency/recall.ts'
import type { RunContext } from '../targets/run-context.ts'
import { createRunSkills } from './run-skills.ts'
import { joinSkillStores } from './skill-library.ts'
import { createSkills } from './skills.ts'

const skill = (name: string, description = 'd') => ({ name, description, instructions: 'i', files: { 'a.md': 'text' } })
const ALICE = { subject: 'alice', tokenId: 'tok', scopes: [] }
const KEY = { id: 'k'.repeat(64), fingerprint: 'f' }
const PAGE: PageQuery = { limit: 2, order: 'asc' }

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (isRefusal(error) ? error.code : error),
  )

function createWorld({ unitOfWork }: { readonly unitOfWork?: UnitOfWork } = {}) {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const registered = createInMemorySkillStore({ skills: [skill('coded')] })
  const folders = createInMemorySkillStore({
    skills: [skill('b'), skill('coded', 'shadowed')],
    sources: { 'x/a': skill('a') },
  })
  const skills = joinSkillStores([registered, folders])
  const useCases = createSkills({
    ...{ skills, registered, clock, unitOfWork: unitOfWork ?? storage.unitOfWork },
    ...{ recall: createRecall({ idempotency: storage.idempotency, clock }), logger: silentLogger },
    ...{ basePath: '/v1', idempotencyTtlMs: 1_000 },
  })
  const auditEntries = async () =>
    (await storage.audit.read({ afterSeq: 0, limit: 9 })).map(({ action, target }) => [action, target])
  return { ...useCases, skills, auditEntries }
}

describe('readSkills', () => {
  it('lists the skills of all stores by name, in pages, and prefers skills that are registered in code', async () => {
    const { readSkills, manageSkills } = createWorld()
    await manageSkills.install({ source: 'x/a', principal: ALICE })

    const first = await readSkills.list(PAGE)
    const last = await readSkills.list({ ...PAGE, cursor: first.nextCursor ?? '' })

    expect([...first.items, ...last.items].map(({ name, description }) => [name, description])).toEqual([
      ['a', 'd'],
      ['b', 'd'],
      ['coded', 'd'],
    ])
    expect(last.nextCursor).toBeNull()
    expect(await refusal(readSkills.get('unknown'))).toBe('skill-not-found')
  })
})

describe('manageSkills', () => {
  it('installs a skill once per key, even for concurrent requests', async () => {
    const { manageSkills, auditEntries } = createWorld()
    const request = { source: 'x/a', principal: ALICE, key: KEY }

    const replies = await Promise.all(Array.from({ length: 5 }, () => manageSkills.install(request)))

    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    expect(replies.filter(({ replayed }) => replayed === true)).toHaveLength(4)
    expect(replies[0]).toMatchObject({ location: '/v1/skills/a', body: { name: 'a', status: 'ready' } })
    expect(await auditEntries()).toEqual([['skills.install', 'a']])
    expect(await refusal(manageSkills.install({ ...request, key: undefined }))).toBe('skill-exists')
  })

  it('removes a skill unless it is registered in code', async () => {
    const { manageSkills, readSkills, auditEntries } = createWorld()

    expect(await manageSkills.remove({ name: 'b', principal: ALICE, key: KEY })).toEqual({ status: 204 })
    expect(await manageSkills.remove({ name: 'b', principal: ALICE, key: KEY })).toMatchObject({ replayed: true })
    expect(await refusal(manageSkills.remove({ name: 'b', principal: ALICE }))).toBe('skill-not-found')
    expect(await refusal(manageSkills.remove({ name: 'coded', principal: ALICE }))).toBe('validation-failed')

    expect((await readSkills.get('coded')).description).toBe('d')
    expect(await auditEntries()).toEqual([['skills.remove', 'b']])
  })

  it('neither installs nor removes a skill when the audit entry cannot be written', async () => {
    const unitOfWork = { commit: () => Promise.reject(perdureError('storage-full')) }
    const { manageSkills, readSkills } = createWorld({ unitOfWork })

    expect(await refusal(manageSkills.install({ source: 'x/a', principal: ALICE }))).toBe('audit-unavailable')
    expect(await refusal(manageSkills.remove({ name: 'b', principal: ALICE }))).toBe('audit-unavailable')

    expect((await readSkills.list({ ...PAGE, limit: 9 })).items.map(({ name }) => name)).toEqual(['b', 'coded'])
  })
})

describe('ctx.skills', () => {
  const run = async (code: (context: RunContext) => Promise<unknown>, skills: SkillStore) => {
    const services = (caller: ServiceCaller) => ({ skills: createRunSkills({ skills }, caller) })
    const engine = createTestEngine({ agents: [agentOf('code', (_, context) => code(context))], services })
    const { json = '' } = await engine.run('code')
    return {
      ...(JSON.parse(json) as { runId: string; result?: unknown; error?: { code: string; message: string } }),
      engine,
    }
  }

  it('records each list, describe and read as a step', async () => {
    const bytes = new Uint8Array(300).fill(255)
    const skills = createInMemorySkillStore({ skills: [{ ...skill('a'), files: { 'a.md': 'Grüße', 'b.bin': bytes } }] })

    const { result, runId, engine } = await run(async (context) => {
      const [one] = await context.skills.list()
      const described = await context.skills.describe('a')
      const text = await context.skills.read('a', 'a.md')
      const base64 = await context.skills.read('a', 'b.bin', { encoding: 'base64' })
      const nothing = [await context.skills.describe('x'), await context.skills.read('a', 'x')]
      return { name: one?.name, files: described?.files, text, base64, nothing }
    }, skills)

    expect(result).toEqual({
      ...{ name: 'a', files: ['a.md', 'b.bin'], text: 'Grüße' },
      base64: Buffer.from(bytes).toString('base64'),
      nothing: [null, null],
    })
    const steps = await engine.storage.steps.list(runId)
    expect(steps.map(({ name }) => name)).toEqual([
      ...['skills.list', 'skills.describe', 'skills.read', 'skills.read', 'skills.describe', 'skills.read'],
    ])
  })

  it.each([
    ['encodin is not an option (did you mean encoding?)', { encodin: 'base64' }],
    ['encoding: must be utf8 or base64', { encoding: 'hex' }],
  ])('rejects a read with an invalid option: %s', async (message, options) => {
    const skills = createInMemorySkillStore({ skills: [skill('a')] })

    const { error, engine, runId } = await run(
      async (context) => context.skills.read('a', 'a.md', options as never),
      skills,
    )

    expect(error).toMatchObject({ code: 'validation-failed', message: expect.stringContaining(message) })
    expect(await engine.storage.steps.list(runId)).toEqual([])
  })

  it.each([
    ['../a.md', 'relative'],
    ['b.bin', 'not UTF-8'],
  ])('fails the step for %s and names the reason', async (path, message) => {
    const skills = createInMemorySkillStore({ skills: [{ ...skill('a'), files: { 'b.bin': new Uint8Array([255]) } }] })

    const { error } = await run(async (context) => context.skills.read('a', path), skills)

    expect(error).toMatchObject({ code: 'step-failed', message: expect.stringContaining(message) })
  })
})
