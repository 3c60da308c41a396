import { AppError, type Storage } from '@perdure/ports'

/** A storage that somebody else has opened tells only by its error that the outcome of a commit is unknown. */
export function withUnknownOutcome(storage: Storage, onUnknown: (error: unknown) => void): Storage {
  const note = (error: unknown): never => {
    if (error instanceof AppError && error.id === 'storage-failed') onUnknown(error)
    throw error
  }
  return {
    ...storage,
    status: () => storage.status(),
    close: () => storage.close(),
    unitOfWork: { commit: (writes) => storage.unitOfWork.commit(writes).catch(note) },
  }
}
