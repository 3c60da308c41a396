import { logTailContract } from '@perdure/testkit'
import { createInMemoryStorage } from './in-memory-storage.ts'
import { shareInMemoryStorage } from './share-in-memory-storage.ts'

logTailContract({
  name: 'in-memory',
  async open() {
    const join = shareInMemoryStorage(createInMemoryStorage())
    return [join(), join()]
  },
  close: async (pair) => void (await Promise.all(pair.map((storage) => storage.close()))),
})
