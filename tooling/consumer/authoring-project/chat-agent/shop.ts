export const orders = { find: (id: string) => ({ id, what: 'a red scarf', price: 80 }) }

export const payments = { refund: (id: string, amount: number) => `refunded ${amount} for ${id}` }
