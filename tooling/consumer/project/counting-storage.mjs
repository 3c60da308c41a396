import { createInMemoryStorage } from '@perdure/in-memory'

/** A storage of the consumer's own: it counts what it commits. */
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
