import { isRefusal, type Storage, type Timers } from '@perdure/ports'

const SAVING_POLL_MS = 100

/**
 * Reports commits with an unknown outcome, once the storage has saved its content. Needed for a storage that the caller
 * opened, because it reports such a commit only by throwing an error.
 */
export function withUnknownOutcome(storage: Storage, timers: Timers, onUnknown: (error: unknown) => void): Storage {
  const reportWhenSaved = (error: unknown): void => {
    const isSaving = storage.status().then(
      (status) => status.isSaving === true,
      () => false,
    )
    void isSaving.then((wait) => (wait ? timers.after(SAVING_POLL_MS, () => reportWhenSaved(error)) : onUnknown(error)))
  }
  const report = (error: unknown): never => {
    if (isRefusal(error) && error.code === 'storage-failed') reportWhenSaved(error)
    throw error
  }
  return {
    ...storage,
    status: () => storage.status(),
    close: () => storage.close(),
    unitOfWork: { commit: (writes) => storage.unitOfWork.commit(writes).catch(report) },
  }
}
