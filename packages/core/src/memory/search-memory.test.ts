import type { Embedder } from '@perdure/ports'
import { createHashEmbedder } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from './memory.fixture.ts'

const synonyms = { car: 'automobile', sofa: 'couch' }
const embedder = createHashEmbedder({ dimensions: 512, synonyms })

/** An embedder whose next answers are given. */
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

describe('a search', () => {
  it('goes by words alone without an embedder', async () => {
    const { remember, found, checkEmbedder } = createMemoryWorld()
    await remember('the automobile is red')

    expect(await found('red')).toHaveLength(1)
    expect(await found('car')).toEqual([])
    expect(checkEmbedder()).toEqual({ status: 'disabled' })
  })

  it('finds by meaning what has no word in common, once the vector is made', async () => {
    const { remember, found, daemons: _, memoryDaemons, pass, checkEmbedder } = createMemoryWorld({ embedder })
    for (const daemon of memoryDaemons) daemon.start()
    await remember('an automobile')
    await remember('some weather')
    await pass(0)

    expect((await found('car'))[0]).toBe('an automobile')
    expect(checkEmbedder()).toEqual({ status: 'ok', name: embedder.name })
  })

  it('puts what fits by words and by meaning before what fits by one', async () => {
    const { remember, found, memoryDaemons, pass } = createMemoryWorld({ embedder })
    for (const daemon of memoryDaemons) daemon.start()
    await remember('the couch')
    await remember('the sofa is a couch')
    await remember('the sofa')
    await pass(0)

    expect((await found('sofa', { limit: 1 }))[0]).toMatch('sofa')
    expect(await found('sofa')).toHaveLength(3)
  })

  it('lets importance decide between facts that fit alike', async () => {
    const { remember, found } = createMemoryWorld()
    await remember('harbour one', { importance: 0.1 })
    await remember('harbour two', { importance: 0.9 })
    await remember('harbour six', { importance: 0.1 })

    expect((await found('harbour'))[0]).toBe('harbour two')
  })

  it('is filtered, and ten facts long when nothing else is said', async () => {
    const { remember, found } = createMemoryWorld()
    for (let n = 0; n < 12; n++) await remember(`harbour ${n}`, { tags: n === 0 ? ['zero'] : [] })

    expect(await found('harbour')).toHaveLength(10)
    expect(await found('harbour', { limit: 2 })).toHaveLength(2)
    expect(await found('harbour', { tags: ['zero'] })).toEqual(['harbour 0'])
    expect(await found('harbour', { visibility: { owner: 'bob' } })).toEqual([])
  })
})

describe('an embedder that fails', () => {
  const failures: readonly (readonly [string, () => Promise<readonly (readonly number[])[]>])[] = [
    ['throws', () => Promise.reject(new Error('no model'))],
    [
      'throws at once',
      () => {
        throw new Error('no model')
      },
    ],
    ['gives too few vectors', async () => []],
    ['gives vectors of another length', async () => [[1, 2]]],
    ['gives vectors that are no numbers', async () => [Array.from({ length: 512 }, () => Number.NaN)]],
  ]

  it.each(failures)('that %s leaves the search by words and a warning', async (_, answer) => {
    const world = createMemoryWorld({ embedder: scripted(answer) })
    await world.remember('the red automobile')

    expect(await world.found('red')).toEqual(['the red automobile'])
    expect(world.checkEmbedder()).toMatchObject({ status: 'warn', name: embedder.name })
    expect(await world.found('red')).toEqual(['the red automobile'])
    expect(world.checkEmbedder()).toMatchObject({ status: 'ok' })
  })

  it('that never answers is given up after its time', async () => {
    const { remember, found, pass, checkEmbedder } = createMemoryWorld({
      embedder: scripted(() => new Promise(() => {})),
    })
    await remember('the red automobile')
    const searching = found('red')
    await pass(5_000)

    expect(await searching).toEqual(['the red automobile'])
    expect(checkEmbedder().message).toContain('no answer within 5000 ms')
  })
})

describe('vectors', () => {
  const down = () => Promise.reject(new Error('down'))

  it('are made later when the embedder is down while facts are written', async () => {
    const flaky = scripted(down, down)
    const { remember, found, memoryDaemons, pass } = createMemoryWorld({ embedder: flaky })
    for (const daemon of memoryDaemons) daemon.start()
    await remember('an automobile')
    await pass(0)
    await pass(15_000)

    expect(await found('car')).toEqual(['an automobile'])
  })

  it('are made by the next process when this one ends before', async () => {
    const first = createMemoryWorld({ embedder })
    await first.remember('an automobile')
    const { storage, clock, ids } = first
    const second = createMemoryWorld({ storage, clock, ids, embedder })
    for (const daemon of second.memoryDaemons) daemon.start()
    await second.pass(0)

    expect(await second.found('car')).toEqual(['an automobile'])
  })

  it('are not held up by one text that the embedder refuses', async () => {
    const picky: Embedder = {
      ...embedder,
      embed: (texts, options) => (texts.includes('poison') ? down() : embedder.embed(texts, options)),
    }
    const { remember, found, memoryDaemons, pass, storage } = createMemoryWorld({ embedder: picky })
    await remember('poison')
    await remember('an automobile')
    for (const daemon of memoryDaemons) daemon.start()
    await pass(0)

    expect(await found('car')).toEqual(['an automobile'])
    expect(await storage.factUpkeep.unembedded(9)).toEqual([])
  })

  it('of another embedder are made anew', async () => {
    const first = createMemoryWorld({ embedder: createHashEmbedder({ dimensions: 8 }) })
    for (const daemon of first.memoryDaemons) daemon.start()
    await first.remember('an automobile')
    await first.pass(0)
    const { storage, clock, ids } = first
    const second = createMemoryWorld({ storage, clock, ids, embedder })
    expect(await second.found('car')).toEqual([])
    for (const daemon of second.memoryDaemons) daemon.start()
    await second.pass(0)

    expect(await second.found('car')).toEqual(['an automobile'])
  })
})
