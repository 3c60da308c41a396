import { describe, expect, it } from 'vitest'
import { createLoopState, loopStateReader, loopStateWriter } from './loop-state.ts'

function setUp() {
  const state = createLoopState()
  return { writer: loopStateWriter(state), reader: loopStateReader(state) }
}

describe('the memory that the event loop shares with its watchdog', () => {
  it('holds the executing runs of the last beat and those that started since', () => {
    const { writer, reader } = setUp()
    writer.beat(false, ['run_1', 'run_2'])
    writer.enter('run_3')
    writer.enter('run_1')

    expect(reader.read()).toEqual({ beats: 1, isDebugged: false, runIds: ['run_1', 'run_2', 'run_3'] })
  })

  it('replaces the runs at each beat', () => {
    const { writer, reader } = setUp()
    writer.enter('run_1')
    writer.beat(true, ['run_2'])

    expect(reader.read()).toEqual({ beats: 1, isDebugged: true, runIds: ['run_2'] })
  })

  it('keeps whole ids when there are more runs than space', () => {
    const { writer, reader } = setUp()
    const ids = Array.from({ length: 1_000 }, (_, index) => `run_${index}`)
    writer.beat(false, ids)
    writer.enter('run_late')

    const { runIds } = reader.read()
    expect(runIds.length).toBeGreaterThan(100)
    expect(runIds).toEqual(ids.slice(0, runIds.length))
  })

  it('tells the event loop how often it was blocked', () => {
    const { writer, reader } = setUp()
    expect(writer.blocks()).toBe(0)
    reader.countBlock()

    expect(writer.blocks()).toBe(1)
  })
})
