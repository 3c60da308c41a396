import type { Embedder } from '@perdure/ports'
import { createHashEmbedder } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from './memory.fixture.ts'

const synonyms = { car: 'automobile', sofa: 'couch' }
const embedder = createHashEmbedder({ dimensions: 512, synonyms })

/** An embedder that returns the given answers in turn. */
function scripted(
  ...answers: readonly (() => Promise<readonly (readonly number[])[]>)[]
): Embedder & { calls: number } {
  const scripted = {
    ...embedder,
    calls: 0,
    embed: (texts: readonly string[], options: { readonly signal: AbortSignal }) => {
      const answer = answers[scripted.calls++]
      return answer === undefined ? embedder.embed(texts, options) : answer()
    },
  }
  return scripted
}

describe('createSearchMemory', () => {
  it('searches by words alone without an embedder', async () => {
    const { remember, found, checkEmbedder } = createMemoryWorld()
    await remember('the automobile is red')

    expect(await found('red')).toHaveLength(1)
    expect(await found('car')).toEqual([])
    expect(checkEmbedder()).toEqual({ status: 'disabled' })
  })

  it('finds a fact that shares no word with the query, after the vector of the fact is computed', async () => {
    const { remember, found, daemons: _, memoryDaemons, advance, checkEmbedder } = createMemoryWorld({ embedder })
    for (const daemon of memoryDaemons) daemon.start()
    await remember('an automobile')
    await remember('some weather')
    await advance(0)

    expect((await found('car'))[0]).toBe('an automobile')
    expect(checkEmbedder()).toEqual({ status: 'ok', name: embedder.name })
  })

  it('ranks a fact that matches by words and by meaning above facts that match by only one of them', async () => {
    const { remember, found, memoryDaemons, advance } = createMemoryWorld({ embedder })
    for (const daemon of memoryDaemons) daemon.start()
    await remember('the couch')
    await remember('the sofa is a couch')
    await remember('the sofa')
    await advance(0)

    expect((await found('sofa', { limit: 1 }))[0]).toMatch('sofa')
    expect(await found('sofa')).toHaveLength(3)
  })

  it('ranks facts that match equally by importance', async () => {
    const { remember, found } = createMemoryWorld()
    await remember('harbour one', { importance: 0.1 })
    await remember('harbour two', { importance: 0.9 })
    await remember('harbour six', { importance: 0.1 })

    expect((await found('harbour'))[0]).toBe('harbour two')
  })

  it('applies the filters and returns ten facts by default', async () => {
    const { remember, found } = createMemoryWorld()
    for (let n = 0; n < 12; n++) await remember(`harbour ${n}`, { tags: n === 0 ? ['zero'] : [] })

    expect(await found('harbour')).toHaveLength(10)
    expect(await found('harbour', { limit: 2 })).toHaveLength(2)
    expect(await found('harbour', { tags: ['zero'] })).toEqual(['harbour 0'])
    expect(await found('harbour', { visibility: { owner: 'bob' } })).toEqual([])
  })
})

describe('createSearchMemory with a failing embedder', () => {
  const failures: readonly (readonly [string, () => Promise<readonly (readonly number[])[]>])[] = [
    ['throws', () => Promise.reject(new Error('no model'))],
    [
      'throws at once',
      () => {
        throw new Error('no model')
      },
    ],
    ['returns too few vectors', async () => []],
    ['returns vectors of another length', async () => [[1, 2]]],
    ['returns vectors that are not numbers', async () => [Array.from({ length: 512 }, () => Number.NaN)]],
  ]

  it.each(failures)('searches by words and warns if the embedder %s', async (_, answer) => {
    const world = createMemoryWorld({ embedder: scripted(answer) })
    await world.remember('the red automobile')

    expect(await world.found('red')).toEqual(['the red automobile'])
    expect(world.checkEmbedder()).toMatchObject({ status: 'warn', name: embedder.name })
    expect(await world.found('red')).toEqual(['the red automobile'])
    expect(world.checkEmbedder()).toMatchObject({ status: 'ok' })
  })

  it('searches by words after the timeout if the embedder never answers', async () => {
    const { remember, found, advance, checkEmbedder } = createMemoryWorld({
      embedder: scripted(() => new Promise(() => {})),
    })
    await remember('the red automobile')
    const searching = found('red')
    await advance(5_000)

    expect(await searching).toEqual(['the red automobile'])
    expect(checkEmbedder().message).toContain('no answer within 5000 ms')
  })
})

describe('createEmbeddingLoop', () => {
  const down = () => Promise.reject(new Error('down'))

  it('computes vectors later if the embedder fails while facts are written', async () => {
    const flaky = scripted(down, down)
    const { remember, found, memoryDaemons, advance } = createMemoryWorld({ embedder: flaky })
    for (const daemon of memoryDaemons) daemon.start()
    await remember('an automobile')
    await advance(0)
    await advance(15_000)

    expect(await found('car')).toEqual(['an automobile'])
  })

  it('computes the missing vectors after a restart', async () => {
    const first = createMemoryWorld({ embedder })
    await first.remember('an automobile')
    const { storage, clock, ids } = first
    const second = createMemoryWorld({ storage, clock, ids, embedder })
    for (const daemon of second.memoryDaemons) daemon.start()
    await second.advance(0)

    expect(await second.found('car')).toEqual(['an automobile'])
  })

  it('skips a text that the embedder rejects', async () => {
    const picky: Embedder = {
      ...embedder,
      embed: (texts, options) => (texts.includes('poison') ? down() : embedder.embed(texts, options)),
    }
    const { remember, found, memoryDaemons, advance, storage } = createMemoryWorld({ embedder: picky })
    await remember('poison')
    await remember('an automobile')
    for (const daemon of memoryDaemons) daemon.start()
    await advance(0)

    expect(await found('car')).toEqual(['an automobile'])
    expect(await storage.factUpkeep.unembedded(9)).toEqual([])
  })

  it('recomputes vectors that another embedder computed', async () => {
    const first = createMemoryWorld({ embedder: createHashEmbedder({ dimensions: 8 }) })
    for (const daemon of first.memoryDaemons) daemon.start()
    await first.remember('an automobile')
    await first.advance(0)
    const { storage, clock, ids } = first
    const second = createMemoryWorld({ storage, clock, ids, embedder })
    expect(await second.found('car')).toEqual([])
    for (const daemon of second.memoryDaemons) daemon.start()
    await second.advance(0)

    expect(await second.found('car')).toEqual(['an automobile'])
  })
})
