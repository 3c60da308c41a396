const SHORTAGE = /EMFILE|ENFILE|too many open files/i

/** Whether an error, or one of its causes, says that the process or the system has no free file descriptor. */
export function isDescriptorShortage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (SHORTAGE.test(`${(cause as { readonly code?: unknown }).code} ${cause.message}`)) return true
  }
  return false
}
