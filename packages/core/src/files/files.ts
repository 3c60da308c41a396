import type { ServiceCaller } from '../durable/service-caller.ts'
import { createDeleteFile, type DeleteFileDeps } from './delete-file.ts'
import { createReadFiles, type ReadFilesDeps } from './read-files.ts'
import { createReceiveFile, type ReceiveFileDeps } from './receive-file.ts'
import { createRunFiles, type RunFiles, type RunFilesDeps } from './run-files.ts'
import { createStoreDataUrl } from './store-data-url.ts'
import { createStoreFile, type StoreFileDeps } from './store-file.ts'
import { createStoreResults } from './store-results.ts'
import { createFileSweep, type SweepFilesDeps } from './sweep-files.ts'

export type FilesDeps = ReadFilesDeps &
  ReceiveFileDeps &
  StoreFileDeps &
  DeleteFileDeps &
  SweepFilesDeps &
  Pick<RunFilesDeps, 'remoteFiles'>

/** Wires the use cases of files. `forRun` creates `ctx.files` of each run. */
export function createFiles(deps: FilesDeps) {
  const receiveFile = createReceiveFile(deps)
  const readFiles = createReadFiles(deps)
  return {
    fileSweep: createFileSweep(deps),
    resultFiles: createStoreResults({ ...deps, receiveFile, readFiles }),
    forRun: (caller: ServiceCaller): RunFiles => createRunFiles({ ...deps, receiveFile, readFiles }, caller),
    useCases: {
      ...{ receiveFile, readFiles },
      storeFile: createStoreFile(deps),
      deleteFile: createDeleteFile(deps),
      storeDataUrl: createStoreDataUrl({ ...deps, receiveFile }),
    },
  }
}
