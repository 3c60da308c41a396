import { createInMemoryBlobStore, createInMemoryStorage } from '@perdure/in-memory'
import { nodeDigest } from '@perdure/platform-node'
import { EVERY_ROW, type Storage, type Write } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import type { createTestEngine, EngineOptions } from '../engine/test-engine.fixture.ts'
import { readBytes } from '../files/file-bytes.ts'
import { processes } from './processes.fixture.ts'

export const LIMITS = { maxBytes: 500_000, maxBytesPerOwner: 1_000_000 }

export function world(over: Partial<EngineOptions> = {}) {
  const clock = createManualClock()
  const blobs = createInMemoryBlobStore({ clock, digest: nodeDigest })
  const storage = createInMemoryStorage()
  const shared = { clock, blobs, storage, fileLimits: LIMITS, ...over }
  return { ...shared, process: processes(shared) }
}

/** JSON that escapes, multi-byte characters and numbers would reveal if it changed. */
export const long = (length: number) => ({
  text: 'Grüße 🚢 "\n'.repeat(length / 10),
  ends: [null, 0.1, -0, 1e21],
  none: undefined,
})

/** A storage that calls `before` in front of each commit. */
export const watched = (storage: Storage, before: (writes: readonly Write[]) => Promise<void>): Storage => ({
  ...storage,
  unitOfWork: {
    ...storage.unitOfWork,
    async commit(writes) {
      await before(writes)
      return storage.unitOfWork.commit(writes)
    },
  },
})

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

export async function storedResult(
  { storage, files }: Pick<ReturnType<typeof createTestEngine>, 'storage' | 'files'>,
  runId: string,
  seq = 1,
) {
  const { result, resultFile } = (await storage.steps.find(runId, seq)) ?? {}
  const opened = await files.useCases.readFiles.open(resultFile?.id ?? 'none', EVERY_ROW)
  const bytes = await readBytes(await opened.read())
  return { result, resultFile, file: opened.file, text: new TextDecoder().decode(bytes), bytes }
}
