import type { AuditCheckpoint, CheckpointLine, CheckpointLog } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { at } from './optional-fields.ts'

export interface CheckpointLogHarness {
  readonly name: string
  /** Opens an empty log. */
  open(): Promise<CheckpointLog>
  /** Removes every line of the log that `open` returned last, as another program would. */
  clear(log: CheckpointLog): Promise<void>
}

const checkpoint = (seq: number): AuditCheckpoint => ({
  seq,
  hash: seq.toString(16).padStart(64, '0'),
  at: at(1_700_000_000_000 + seq),
})

async function linesOf(log: CheckpointLog): Promise<readonly CheckpointLine[]> {
  const lines: CheckpointLine[] = []
  for await (const line of log.read()) lines.push(line)
  return lines
}

/** Requirements for every `CheckpointLog`. */
export function checkpointLogContract({ name, open, clear }: CheckpointLogHarness): void {
  describe(`CheckpointLog: ${name}`, () => {
    it('starts with no lines', async () => {
      expect(await linesOf(await open())).toEqual([])
    })

    it('returns the appended checkpoints in order and numbered', async () => {
      const log = await open()
      for (const seq of [1_000, 2_000, 1_500]) await log.append(checkpoint(seq))

      expect(await linesOf(log)).toEqual([
        { number: 1, checkpoint: checkpoint(1_000) },
        { number: 2, checkpoint: checkpoint(2_000) },
        { number: 3, checkpoint: checkpoint(1_500) },
      ])
    })

    it('is intact until its lines are removed, and never again', async () => {
      const log = await open()
      await linesOf(log)
      expect(await log.isIntact()).toBe(true)
      for (const seq of [1, 2]) await log.append(checkpoint(seq))
      expect(await log.isIntact()).toBe(true)

      await clear(log)
      expect(await log.isIntact()).toBe(false)

      for (const seq of [3, 4, 5]) await log.append(checkpoint(seq))
      expect(await log.isIntact()).toBe(false)
      expect((await linesOf(log)).map(({ checkpoint }) => checkpoint?.seq)).toEqual([3, 4, 5])
    })

    it('can be read while lines are appended', async () => {
      const log = await open()
      await log.append(checkpoint(1))
      const reading = log.read()[Symbol.asyncIterator]()
      const first = await reading.next()
      await log.append(checkpoint(2))
      await reading.return?.()

      expect(first.value).toEqual({ number: 1, checkpoint: checkpoint(1) })
      expect(await linesOf(log)).toHaveLength(2)
    })
  })
}
