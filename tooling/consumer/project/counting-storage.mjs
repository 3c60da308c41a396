import { createInMemoryStorage } from '@perdure/in-memory'

/** A custom storage of the consumer that counts commits. */
export function createCountingStorage() {
  const inner = createInMemoryStorage()
  let commits = 0
  return {
    ...inner,
    unitOfWork: {
      async commit(writes) {
        const outcome = await inner.unitOfWork.commit(writes)
        if (outcome.committed) commits++
        return outcome
      },
    },
    commits: () => commits,
  }
}
