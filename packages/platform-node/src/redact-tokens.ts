const TOKEN = /perdure_(?:live|test|local)_v1_\w+/g

/** Cuts out whatever looks like a bearer token. The replacement cannot become part of another one. */
export const redactTokens = (text: string): string => text.replace(TOKEN, '[token]')
