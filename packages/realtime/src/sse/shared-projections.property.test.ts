import { EVERY_ROW } from '@perdure/ports'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ProjectedStart } from './projected-blocks.ts'
import { createRunLog, RUN_ID, settled } from './run-log.fixture.ts'
import type { RunProjector } from './run-projector.ts'

/** Longer than what the shared rendering keeps for readers that are behind, after a few events. */
const LONG = 'x'.repeat(40_000)

/** Shows what it has counted so far, so that a frame depends on every earlier event. */
function createCounter(): RunProjector {
  let count = 0
  return {
    next({ type }) {
      if (type === 'a.skip') return []
      count += 1
      if (type === 'a.none') return []
      const text = type === 'a.long' ? LONG : ''
      return [{ data: `${count} ${type} ${text}` }, { data: `${count} again` }]
    },
    opening: (of) => [{ data: of === 'all' ? `so far ${count}` : 'rest' }],
    rest: () => undefined,
    needs: (type) => type !== 'a.skip',
  }
}

const TYPES = ['a.short', 'a.long', 'a.none', 'a.skip'] as const

const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ append: fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 6 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ open: fc.constantFrom<ProjectedStart>('first', 'now', ({ type }) => type === 'a.long') }),
  },
  { weight: 3, arbitrary: fc.record({ read: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ leave: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ resume: fc.nat(4) }) },
)
type Action = { append?: readonly string[]; open?: ProjectedStart; read?: number; leave?: number; resume?: number }

async function setUp() {
  const log = await createRunLog({ maxStreams: 200, maxStreamsPerToken: 200 })
  let renderings = 0
  const counted = (): RunProjector => {
    const one = createCounter()
    return {
      ...one,
      next(event) {
        renderings += 1
        return one.next(event)
      },
    }
  }
  const open = async (start: ProjectedStart, lastEventId?: string) => {
    const request = { runId: RUN_ID, visibility: EVERY_ROW, start, lastEventId } as const
    const [shared, alone] = await Promise.all([
      log.streams.openProjectedStream({
        ...request,
        projector: counted(),
        sharing: { form: 'counter', renew: counted },
      }),
      log.streams.openProjectedStream({ ...request, projector: createCounter() }),
    ])
    const reader = (shared.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let text = ''
    return {
      expected: alone.text(),
      text: () => text,
      cancel: () => reader.cancel(),
      async read() {
        const { done, value } = await reader.read()
        text += decoder.decode(value, { stream: !done })
        return !done
      },
    }
  }
  return { ...log, open, renderings: () => renderings }
}

it('gives every reader the frames that it would get alone, whenever it comes and however slowly it reads', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions: readonly Action[]) => {
      const { append, complete, open } = await setUp()
      const readers: Awaited<ReturnType<typeof open>>[] = []
      const left: typeof readers = []
      await append('a.short')
      for (const { append: types, open: start, read, leave, resume } of actions) {
        if (types !== undefined) await append(...types)
        if (start !== undefined) readers.push(await open(start))
        await settled()
        const pending = read === undefined ? undefined : readers[read % readers.length]
        // When there is nothing new, the read goes on while the next actions happen.
        if (pending !== undefined) await Promise.race([pending.read(), settled().then(settled)])
        const leaving =
          leave === undefined || readers.length < 2 ? undefined : readers.splice(leave % readers.length, 1)[0]
        if (leaving !== undefined) left.push(leaving)
        const cursor = resume === undefined ? undefined : idIn(readers[resume % readers.length]?.text())
        if (cursor !== undefined) readers.push(await open('now', cursor))
      }
      await Promise.all(left.map((reader) => reader.cancel()))
      await complete()

      for (const reader of readers) {
        while (await reader.read());
        expect(reader.text()).toBe(await reader.expected)
      }
    }),
    { numRuns: 60 },
  )
})

const idIn = (text = ''): string | undefined => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1]

it('renders an event once for all readers that follow the run', async () => {
  const { append, complete, open, renderings } = await setUp()
  await append('a.short')
  const readers = await Promise.all(Array.from({ length: 10 }, () => open('first')))
  for (const reader of readers) await reader.read()
  const before = renderings()
  const reading = readers.map(async (reader) => {
    while (await reader.read());
  })
  for (let index = 0; index < 20; index++) {
    await append('a.short')
    await settled()
  }
  await complete()
  await Promise.all(reading)

  expect(renderings() - before).toBe(21)
})

it('lets a reader that is far behind the others continue by itself', async () => {
  const { append, complete, open } = await setUp()
  await append('a.short')
  const quick = await open('first')
  const slow = await open('first')
  await slow.read()
  for (let index = 0; index < 20; index++) {
    await append('a.long')
    while ((await Promise.race([quick.read(), settled().then(() => undefined)])) !== undefined);
  }
  await complete()

  while (await slow.read());
  expect(slow.text()).toBe(await slow.expected)
})

it('continues the rendering for the other readers when the reader that rendered leaves', async () => {
  const { append, complete, open, renderings } = await setUp()
  await append('a.short')
  const first = await open('first')
  const second = await open('first')
  await first.read()
  await second.read()
  for (let index = 0; index < 5; index++) {
    await append('a.short')
    await first.read()
    await second.read()
  }
  const before = renderings()
  await first.cancel()

  await append('a.short')
  await second.read()
  await complete()
  while (await second.read());

  expect(renderings() - before).toBe(2)
  expect(second.text()).toBe(await second.expected)
})
