import { isDescriptorShortage, StartError } from '@perdure/ports'

/** Replaces an error that a lack of file descriptors has caused, by one that says so; returns any other error. */
export function withDescriptorHint(error: unknown): unknown {
  if (!isDescriptorShortage(error) || (error instanceof StartError && error.kind === 'descriptor-limit')) return error
  return new StartError('descriptor-limit', {
    message: 'the process, or the system, has no free file descriptor',
    hint: 'raise the limit on open files to 1024 or more: ulimit -n',
    cause: error,
  })
}
