-- lifetime: experiments, games and pairs over the whole life of the database, deleted ones included
select experiments, deleted_experiments, games, deleted_games, counted_pairs from kroo.lifetime
