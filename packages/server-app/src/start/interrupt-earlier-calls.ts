import { interruptCalls } from '@perdure/core'
import type { Cluster } from '@perdure/ports'

/** In a cluster, only a server that had the storage for itself has left calls that name no process. */
export const interruptEarlierCalls = ({ executor }: Pick<Cluster, 'executor'>) =>
  interruptCalls(executor === undefined ? undefined : { nobody: true })
