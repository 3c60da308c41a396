import { AppError, type Storage } from '@perdure/ports'

/**
 * Reports commits with an unknown outcome. Needed for a storage that the caller opened, because it reports such a
 * commit only by throwing an error.
 */
export function withUnknownOutcome(storage: Storage, onUnknown: (error: unknown) => void): Storage {
  const report = (error: unknown): never => {
    if (error instanceof AppError && error.id === 'storage-failed') onUnknown(error)
    throw error
  }
  return {
    ...storage,
    status: () => storage.status(),
    close: () => storage.close(),
    unitOfWork: { commit: (writes) => storage.unitOfWork.commit(writes).catch(report) },
  }
}
