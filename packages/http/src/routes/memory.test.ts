import { Block, Fact, listOf, MemoryConflict, SearchResult } from '@perdure/protocol'
import { parse } from 'valibot'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'

const as = (subject: string, ...scopes: string[]) => ({ deps: { authenticate: async () => ({ subject, scopes }) } })

const send = (method: string, path: string, body?: unknown) =>
  new Request(`${ORIGIN}/v1${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  })

const idsIn = (body: Record<string, unknown>) => parse(listOf(Fact), body).items.map(({ id }) => id)

describe('/memory/facts', () => {
  it('creates a fact and returns its location', async () => {
    const { app } = createTestApp()

    const response = await app.fetch(post('/memory/facts', { text: 'the harbour opens at six', tags: ['hours'] }))

    const fact = parse(Fact, await bodyOf(response))
    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe(`/v1/memory/facts/${fact.id}`)
    expect(fact).toMatchObject({ id: expect.stringMatching(/^mem_/), namespace: 'default', importance: 0.5 })
    expect(parse(Fact, await bodyOf(await app.fetch(get(`/memory/facts/${fact.id}`))))).toEqual(fact)
  })

  it('creates a fact only once per idempotency key', async () => {
    const { app } = createTestApp()
    const create = () => app.fetch(post('/memory/facts', { text: 'once' }, { 'Idempotency-Key': 'k' }))

    const first = await bodyOf(await create())
    const second = await create()

    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await bodyOf(second)).toEqual(first)
    expect(idsIn(await bodyOf(await app.fetch(get('/memory/facts'))))).toHaveLength(1)
  })

  it('updates and deletes a fact', async () => {
    const { app } = createTestApp()
    const { id } = await bodyOf(await app.fetch(post('/memory/facts', { text: 'one' })))

    const changed = await app.fetch(send('PATCH', `/memory/facts/${id}`, { importance: 1, expiresAt: null }))
    expect(parse(Fact, await bodyOf(changed))).toMatchObject({ text: 'one', importance: 1 })
    expect((await app.fetch(send('DELETE', `/memory/facts/${id}`))).status).toBe(204)
    expect(await refusalOf(await app.fetch(get(`/memory/facts/${id}`)))).toEqual({
      status: 404,
      error: 'memory-fact-not-found',
    })
  })

  it('lists facts by namespace and tag, in pages', async () => {
    const { app } = createTestApp()
    for (const [text, namespace, tag] of [
      ['a', 'work', 'x'],
      ['b', 'work', 'y'],
      ['c', 'home', 'x'],
    ] as const) {
      await app.fetch(post('/memory/facts', { text, namespace, tags: [tag] }))
    }
    const list = async (query: string) =>
      parse(listOf(Fact), await bodyOf(await app.fetch(get(`/memory/facts${query}`))))

    expect((await list('?namespace=work')).items.map(({ text }) => text)).toEqual(['b', 'a'])
    expect((await list('?tag=x&order=asc')).items.map(({ text }) => text)).toEqual(['a', 'c'])
    const { items, nextCursor } = await list('?limit=2')
    expect([...items, ...(await list(`?limit=2&cursor=${nextCursor}`)).items]).toHaveLength(3)
  })

  it.each([
    [{ text: '' }, 'text'],
    [{ text: 'x'.repeat(501) }, 'text'],
    [{ text: 'x', importance: 2 }, 'importance'],
    [{ text: 'x', tags: [''] }, 'tags'],
    [{ text: 'x', expiresAt: '2020-01-01T00:00:00.000Z' }, 'expiresAt'],
    [{ text: 'x', color: 'red' }, 'color'],
  ])('rejects %j and names the invalid member', async (body, member) => {
    const { app } = createTestApp()

    const response = await app.fetch(post('/memory/facts', body))

    expect(response.status).toBe(400)
    expect(await bodyOf(response)).toMatchObject({
      error: 'validation-failed',
      message: expect.stringContaining(member),
    })
  })

  it('shows a caller with an :own scope only the facts of that caller', async () => {
    let principal = { subject: 'bob', scopes: ['memory:*'] }
    const { app } = createTestApp({ deps: { authenticate: async () => principal } })
    const { id } = await bodyOf(await app.fetch(post('/memory/facts', { text: 'bob likes tea' })))
    principal = { subject: 'alice', scopes: ['memory:read:own', 'memory:write:own'] }
    const { id: own } = await bodyOf(await app.fetch(post('/memory/facts', { text: 'alice likes tea' })))

    expect(idsIn(await bodyOf(await app.fetch(get('/memory/facts'))))).toEqual([own])
    const { items } = parse(SearchResult, await bodyOf(await app.fetch(post('/memory/search', { query: 'tea' }))))
    expect(items.map(({ fact }) => fact.id)).toEqual([own])
    for (const request of [get(`/memory/facts/${id}`), send('DELETE', `/memory/facts/${id}`)]) {
      expect((await app.fetch(request)).status).toBe(404)
    }
  })

  it('requires the memory scopes', async () => {
    const { app } = createTestApp(as('alice', 'memory:read'))

    expect(await refusalOf(await app.fetch(post('/memory/facts', { text: 'x' })))).toEqual({
      status: 403,
      error: 'scope-denied',
    })
    expect((await app.fetch(post('/memory/search', { query: 'x' }))).status).toBe(200)
  })
})

describe('/memory/search', () => {
  it('returns facts with their scores, best first', async () => {
    const { app } = createTestApp()
    for (const text of ['the harbour opens', 'the harbour master sleeps', 'nothing']) {
      await app.fetch(post('/memory/facts', { text }))
    }

    const { items } = parse(
      SearchResult,
      await bodyOf(await app.fetch(post('/memory/search', { query: 'harbour master"*(' }))),
    )

    expect(items.map(({ fact }) => fact.text)).toEqual(['the harbour master sleeps', 'the harbour opens'])
    expect(items[0]?.score).toBeGreaterThan(items[1]?.score ?? 0)
  })
})

describe('/memory/blocks', () => {
  it('creates, updates, lists and deletes a block', async () => {
    const { app } = createTestApp()
    const put = (body: unknown) => app.fetch(send('PUT', '/memory/blocks/persona', body))

    expect((await put({ value: 'calm' })).status).toBe(200)
    expect(parse(Block, await bodyOf(await put({ value: 'brief', limit: 9 })))).toMatchObject({
      value: 'brief',
      limit: 9,
    })
    expect(await refusalOf(await put({ value: 'x'.repeat(10) }))).toEqual({ status: 400, error: 'validation-failed' })
    const { items } = parse(listOf(Block), await bodyOf(await app.fetch(get('/memory/blocks'))))
    expect(items).toMatchObject([{ label: 'persona', value: 'brief' }])
    expect((await app.fetch(send('DELETE', '/memory/blocks/persona'))).status).toBe(204)
    expect((await app.fetch(send('DELETE', '/memory/blocks/persona'))).status).toBe(404)
  })
})

describe('/memory/conflicts', () => {
  it('lists conflicts and resolves one', async () => {
    const { app } = createTestApp()
    for (const colour of ['blue', 'green']) {
      await app.fetch(post('/memory/facts', { text: `her favourite colour of all is ${colour}` }))
    }
    const { items } = parse(listOf(MemoryConflict), await bodyOf(await app.fetch(get('/memory/conflicts'))))
    const [conflict] = items
    const keep = [conflict?.facts[1]?.id]

    const resolved = await app.fetch(post(`/memory/conflicts/${conflict?.id}/resolve`, { keep, reason: 'she said so' }))

    expect(parse(MemoryConflict, await bodyOf(resolved))).toMatchObject({
      status: 'resolved',
      reason: 'she said so',
      facts: [{ text: 'her favourite colour of all is green' }],
    })
    expect(idsIn(await bodyOf(await app.fetch(get('/memory/facts'))))).toEqual(keep)
  })
})
