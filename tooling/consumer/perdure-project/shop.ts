/** What the agents call, without a model. */
export const shorten = async (text: string): Promise<string> => text.split('.')[0] ?? text
export const answer = async (ticket: string): Promise<string> => `We are sorry about: ${ticket}. It is on its way.`

export const helpdesk = {
  closed: [] as string[],
  async close(ticket: string, { idempotencyKey }: { readonly idempotencyKey: string }): Promise<void> {
    this.closed.push(`${ticket} ${idempotencyKey}`)
  },
}
